//! Strongly connected components, callees first (Tarjan), without recursion.

/// Components of the graph over `0..count`; a component comes after all that it reaches.
pub fn components(count: usize, successors: impl Fn(usize) -> Vec<usize>) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let mut number = vec![NEW; count];
    let mut low = vec![0; count];
    let mut on_stack = vec![false; count];
    let mut stack = Vec::new();
    let mut next_number = 0;
    let mut result = Vec::new();
    for start in 0..count {
        if number[start] != NEW {
            continue;
        }
        let mut calls: Vec<(usize, Vec<usize>, usize)> = Vec::new();
        let mut enter = Some(start);
        loop {
            if let Some(v) = enter.take() {
                number[v] = next_number;
                low[v] = next_number;
                next_number += 1;
                stack.push(v);
                on_stack[v] = true;
                calls.push((v, successors(v), 0));
            }
            let Some((v, targets, at)) = calls.last_mut() else { break };
            let v = *v;
            if let Some(w) = targets.get(*at).copied() {
                *at += 1;
                if number[w] == NEW {
                    enter = Some(w);
                } else if on_stack[w] {
                    low[v] = low[v].min(number[w]);
                }
                continue;
            }
            calls.pop();
            if let Some((parent, ..)) = calls.last() {
                low[*parent] = low[*parent].min(low[v]);
            }
            if low[v] == number[v] {
                let from = stack.iter().rposition(|w| *w == v).expect("v is on the stack");
                let component = stack.split_off(from);
                component.iter().for_each(|w| on_stack[*w] = false);
                result.push(component);
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn callees_come_first() {
        let edges = [vec![1], vec![2, 3], vec![1], vec![], vec![4, 0]];
        let found = components(5, |v| edges[v].clone());
        assert_eq!(found.len(), 4);
        assert_eq!(found[0], [3]);
        assert_eq!(found[1].len(), 2);
        assert_eq!(found[2], [0]);
        assert_eq!(found[3], [4]);
    }
}
