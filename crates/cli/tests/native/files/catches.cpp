#include <cstdio>
void thrower(int x);
int main() {
    try {
        thrower(3);
    } catch (int x) {
        std::printf("caught %d\n", x);
    }
}
