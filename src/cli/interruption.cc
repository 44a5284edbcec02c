#include "cli/interruption.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdio>

namespace discreet::cli {
namespace {

constexpr int kInterrupted = 130;  // as shells say it: 128 and SIGINT

int end_signal() {
  return SIGRTMIN;
}

}  // namespace

Interruption::Interruption() {
  sigemptyset(&watched_);
  sigaddset(&watched_, SIGINT);
  sigaddset(&watched_, end_signal());
  pthread_sigmask(SIG_BLOCK, &watched_, &before_);
  watcher_ = std::thread([this] { watch(); });
}

Interruption::~Interruption() {
  pthread_kill(watcher_.native_handle(), end_signal());
  watcher_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

// Engines are stopped over connections of their own: nothing that a signal's handler may do.
void Interruption::watch() {
  for (int signal = 0; sigwait(&watched_, &signal) == 0 && signal == SIGINT;) {
    if (stop_.stop_requested()) _exit(kInterrupted);
    std::fputs("stopping; what is charged stays charged\n", stderr);
    stop_.request_stop();
  }
}

}  // namespace discreet::cli
