// Strings and streams on the stacks of threads that come one after the other, and of some at a time.
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>
static std::mutex lock;
static std::string all;
static void work(int n)
{
    std::string mine = "thread ";
    for (int i = 0; i < 5; i++) {
        mine += static_cast<char>('a' + n);
        std::ostringstream out;
        out << mine << ' ' << i;
        std::lock_guard<std::mutex> guard(lock);
        all += out.str().back();
        mine += all.front();
    }
}
int main()
{
    for (int round = 0; round < 10; round++) {
        std::vector<std::thread> threads;
        for (int n = 0; n < 4; n++)
            threads.emplace_back(work, n);
        for (auto &thread : threads)
            thread.join();
    }
    std::cout << "length " << all.size() << std::endl;
}
