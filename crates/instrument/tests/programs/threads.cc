// Exceptions through frames, std::thread and what goes with it, static locals, virtual calls.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Guard {
    int &count;
    explicit Guard(int &c) : count(c) { count++; }
    ~Guard() { count--; }
};

static int alive;

static int deep(int n) {
    Guard guard(alive);
    if (n == 0) throw std::runtime_error("bottom");
    return deep(n - 1) + 1;
}

static int catcher(int n) {
    try {
        return deep(n);
    } catch (const std::exception &e) {
        printf("caught %s, alive %d\n", e.what(), alive);
        return -1;
    }
}

static int rethrower(int n) {
    try {
        Guard guard(alive);
        return deep(n);
    } catch (...) {
        throw;
    }
}

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
struct Square : Shape {
    double side;
    explicit Square(double s) : side(s) {}
    double area() const override { return side * side; }
};

static std::string &name() {
    static std::string text = "static";
    return text;
}

int main() {
    for (int i = 0; i < 5; i++) catcher(i);
    try { rethrower(3); } catch (const std::runtime_error &e) { printf("again %s %d\n", e.what(), alive); }
    std::mutex lock;
    std::condition_variable ready;
    std::atomic<int> started{0};
    std::map<int, int> squares;
    bool go = false;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&, t] {
            started++;
            std::unique_lock<std::mutex> held(lock);
            ready.wait(held, [&] { return go; });
            for (int i = 0; i < 10; i++) squares[t * 10 + i] = i * i;
            try { throw t; } catch (int v) { squares[100 + v] = v; }
        });
    while (started != 4) std::this_thread::yield();
    { std::lock_guard<std::mutex> held(lock); go = true; }
    ready.notify_all();
    for (auto &thread : threads) thread.join();
    long sum = 0;
    for (auto &entry : squares) sum += entry.first * entry.second;
    std::vector<std::unique_ptr<Shape>> shapes;
    for (int i = 0; i < 3; i++) shapes.push_back(std::make_unique<Square>(i));
    double area = 0;
    for (auto &shape : shapes) area += shape->area();
    printf("%ld %zu %.1f %s\n", sum, squares.size(), area, name().c_str());
}
