#include <cstdio>
extern "C" {
#include "twice.h"
}
int main() { std::printf("%d\n", twice(4)); }
