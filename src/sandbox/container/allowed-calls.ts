/**
 * Lists the system calls that a container may make without further rules.
 *
 * These are all that Linux 6.1 has on x86-64 and arm64, except those that the rules refuse or judge. A container's
 * filter is made by a library that knows calls by name and passes over names that are newer than itself.
 *
 * INVARIANT: a call that is named neither here nor in the rules does not exist inside, so that a call that the library
 * does not know is no way round a rule.
 */
export const ALLOWED_CALLS: readonly string[] = `
  accept accept4 access afs_syscall alarm arch_prctl bind brk capget capset chdir chown clock_getres clock_gettime clock_nanosleep close
  close_range connect copy_file_range create_module dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait
  epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 execve execveat exit exit_group faccessat faccessat2 fadvise64 fallocate
  fanotify_mark fchdir fchown fchownat fdatasync fgetxattr flistxattr flock fork fremovexattr fsetxattr fstat fstatfs fsync ftruncate
  futex futex_waitv futimesat get_kernel_syms get_mempolicy get_robust_list get_thread_area getcpu getcwd getdents getdents64 getegid
  geteuid getgid getgroups getitimer getpeername getpgid getpgrp getpid getpmsg getppid getpriority getrandom getresgid getresuid getrlimit
  getrusage getsid getsockname getsockopt gettid gettimeofday getuid getxattr inotify_add_watch inotify_init inotify_init1 inotify_rm_watch
  io_cancel io_destroy io_getevents io_pgetevents io_setup io_submit ioprio_get ioprio_set kill landlock_add_rule landlock_create_ruleset
  landlock_restrict_self lchown lgetxattr link linkat listen listxattr llistxattr lremovexattr lseek lsetxattr lstat madvise mbind
  membarrier memfd_create memfd_secret mincore mkdir mkdirat mlock mlock2 mlockall mmap mprotect mq_getsetattr mq_notify mq_open
  mq_timedreceive mq_timedsend mq_unlink mremap msgctl msgget msgrcv msgsnd msync munlock munlockall munmap nanosleep newfstatat nfsservctl
  pause pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll prctl pread64 preadv preadv2 prlimit64
  process_madvise process_mrelease pselect6 putpmsg pwrite64 pwritev pwritev2 query_module read readahead readlink readlinkat readv recvfrom
  recvmmsg recvmsg remap_file_pages removexattr rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction rt_sigpending
  rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min
  sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setattr sched_setparam
  sched_setscheduler sched_yield seccomp security select semctl semget semop semtimedop sendfile sendmmsg sendmsg sendto set_mempolicy
  set_mempolicy_home_node set_robust_list set_thread_area set_tid_address setfsgid setfsuid setgid setgroups setitimer setpgid setpriority
  setregid setresgid setresuid setreuid setrlimit setsid setsockopt setuid setxattr shmat shmctl shmdt shmget shutdown sigaltstack signalfd
  signalfd4 splice stat statfs statx symlink symlinkat sync sync_file_range syncfs sysfs sysinfo tee tgkill time timer_create timer_delete
  timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill truncate tuxcall umask uname
  unlink unlinkat ustat utime utimensat utimes vfork vmsplice vserver wait4 waitid write writev
`
  .trim()
  .split(/\s+/);
