/* Static locals, call_once, thread_local: all safe. */
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
static std::once_flag once;
static std::string *name;
static const std::vector<int> &table()
{
    static const std::vector<int> numbers{1, 2, 3};
    return numbers;
}
static thread_local int own;
static void work()
{
    std::call_once(once, [] { name = new std::string("raddle"); });
    for (int number : table())
        own += number + static_cast<int>(name->size());
}
int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(work);
    for (auto &thread : threads)
        thread.join();
    work();
    std::printf("%d\n", own);
    delete name;
}
