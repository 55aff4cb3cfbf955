// A small pool of C++ threads. `done` counts finished jobs and is atomic; `longest` looks harmless and is not.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

class Pool {
public:
    explicit Pool(unsigned count)
    {
        for (unsigned i = 0; i < count; i++)
            threads.emplace_back([this] { work(); });
    }

    ~Pool()
    {
        {
            std::lock_guard<std::mutex> guard(mutex);
            closed = true;
        }
        ready.notify_all();
        for (auto &thread : threads)
            thread.join();
        std::printf("%d jobs, the longest took %d steps\n", done.load(), longest);
    }

    void add(std::function<int()> job)
    {
        {
            std::lock_guard<std::mutex> guard(mutex);
            jobs.push(std::move(job));
        }
        ready.notify_one();
    }

private:
    void work()
    {
        std::unique_lock<std::mutex> lock(mutex);
        for (;;) {
            ready.wait(lock, [this] { return closed || !jobs.empty(); });
            if (jobs.empty())
                return;
            auto job = std::move(jobs.front());
            jobs.pop();
            lock.unlock();
            int steps = job();
            if (steps > longest)
                longest = steps;
            done++;
            lock.lock();
        }
    }

    std::vector<std::thread> threads;
    std::mutex mutex;
    std::condition_variable ready;
    std::queue<std::function<int()>> jobs;
    std::atomic<int> done{0};
    bool closed = false;
    int longest = 0;
};

int main()
{
    Pool pool(2);
    for (int i = 0; i < 40; i++)
        pool.add([i] {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            return i % 7;
        });
}
