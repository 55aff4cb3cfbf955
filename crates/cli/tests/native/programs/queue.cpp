#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

template <typename T> class Queue {
  public:
    void push(T value)
    {
        {
            std::lock_guard<std::mutex> hold(lock);
            items.push(std::move(value));
        }
        ready.notify_one();
    }
    T pop()
    {
        std::unique_lock<std::mutex> hold(lock);
        ready.wait(hold, [&] { return !items.empty(); });
        T value = std::move(items.front());
        items.pop();
        return value;
    }

  private:
    std::mutex lock;
    std::condition_variable ready;
    std::queue<T> items;
};

static std::atomic<int> sum{0};
#ifdef RACY
static int plain;
#endif

int main()
{
    Queue<std::unique_ptr<int>> queue;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&] {
#ifdef RACY
            plain++;
#endif
            for (;;) {
                std::unique_ptr<int> item = queue.pop();
                if (*item == 0)
                    return;
                sum.fetch_add(*item, std::memory_order_relaxed);
            }
        });
    for (int i = 1; i <= 300; i++)
        queue.push(std::make_unique<int>(i % 7 + 1));
    for (int i = 0; i < 3; i++)
        queue.push(std::make_unique<int>(0));
    for (auto &thread : threads)
        thread.join();
    std::printf("%d\n", sum.load());
}
