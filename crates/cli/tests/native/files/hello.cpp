#include <iostream>
#include <string>
#include <vector>
int main() {
    std::vector<std::string> words{"hello", "there"};
    for (auto &word : words) std::cout << word << "\n";
}
