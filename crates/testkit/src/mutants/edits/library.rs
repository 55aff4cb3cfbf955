//! Calls of the C library: as a statement on shared memory, or as a condition of a statement.
//!
//! In a text, `$` is a variable of file scope. A static variable inside a text is shared by the threads that come there.

use super::values::shared;
use super::{Edit, any, plain};
use crate::mutants::shape::Shape;
use crate::random::Random;

pub(super) fn insert_call(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    insert(shape, random, &CALLS)
}

/// A statement is done only where a call has this result; or a call decides what is read.
pub(super) fn insert_result(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let statements = plain(shape);
    let statement = any(&statements, random)?;
    let condition = random.pick(&RESULTS);
    let at = shape.bytes(&statement.tokens);
    let not = if random.chance(50) { "!" } else { "" };
    let mut edit = Edit::one(at.start..at.start, format!("if ({not}({condition})) "))?;
    edit.needs_headers = true;
    Some(edit)
}

fn insert(shape: &Shape<'_>, random: &mut Random, texts: &[&str]) -> Option<Edit> {
    let statements = plain(shape);
    let statement = any(&statements, random)?;
    let variables = shared(shape, statement.tokens.start);
    let mut text = random.pick(texts).to_owned();
    if text.contains('$') {
        text = text.replace('$', &any(&variables, random)?.name);
    }
    let mut edit = Edit::before(shape, statement, &text)?;
    edit.needs_headers = true;
    Some(edit)
}

/// What the texts below need.
pub(in crate::mutants) const HEADERS: &str = "\
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
";

const CALLS: [&str; 88] = [
    "memset(&$, 0, sizeof $);",
    "memset(&$, 1, 1);",
    "memcpy(&$, &(char[sizeof $]){0}, sizeof $);",
    "{ char b[sizeof $]; memcpy(b, &$, sizeof b); }",
    "memmove(&$, (char *)&$ + 1, sizeof $ - 1);",
    "(void)memcmp(&$, \"0123456789\", sizeof $ < 10 ? sizeof $ : 10);",
    "(void)memchr(&$, 'x', sizeof $);",
    "bzero(&$, sizeof $);",
    "explicit_bzero(&$, sizeof $);",
    "strncpy((char *)&$, \"ab\", sizeof $);",
    "*(char *)&$ = 0, strcat((char *)&$, \"\");",
    "(void)strnlen((char *)&$, sizeof $);",
    "snprintf((char *)&$, sizeof $, \"%d\", 1);",
    "snprintf(NULL, 0, \"%.*s\", (int)sizeof $, (char *)&$);",
    "sscanf(\"5\", \"%c\", (char *)&$);",
    "printf(\"%d\\n\", (int)*(char *)&$);",
    "printf(\"%.*s\\n\", (int)sizeof $, (char *)&$);",
    "fputs(\"x\\n\", stdout);",
    "fflush(stdout);",
    "setbuf(stdout, NULL);",
    "(void)!write(1, &$, sizeof $);",
    "(void)!read(0, &$, sizeof $);",
    "fwrite(&$, 1, sizeof $, stdout);",
    "(void)!fread(&$, 1, sizeof $, stdin);",
    "(void)!fgets((char *)&$, sizeof $, stdin);",
    "(void)!scanf(\"%c\", (char *)&$);",
    "{ int f[2]; if (pipe(f) == 0) { (void)!write(f[1], &$, sizeof $); (void)!read(f[0], &$, sizeof $); } }",
    "{ int f[2]; if (socketpair(AF_UNIX, SOCK_STREAM, 0, f) == 0) { send(f[1], &$, sizeof $, 0); recv(f[0], &$, sizeof $, 0); } }",
    "{ int f = open(\"/dev/zero\", O_RDONLY); if (f >= 0) { (void)!read(f, &$, sizeof $); close(f); } }",
    "{ FILE *f = fopen(\"/dev/zero\", \"r\"); if (f) { (void)!fread(&$, 1, sizeof $, f); fclose(f); } }",
    "strtok((char[]){\"a,b\"}, \",\");",
    "{ static char *rest; strtok_r((char[]){\"a,b\"}, \",\", &rest); }",
    "(void)getenv(\"HOME\");",
    "setenv(\"RADDLE_A\", \"1\", 1);",
    "unsetenv(\"RADDLE_A\");",
    "rand();",
    "srand(1);",
    "random();",
    "(void)drand48();",
    "srand48(1);",
    "{ static unsigned s; rand_r(&s); }",
    "localtime(&(time_t){0});",
    "gmtime(&(time_t){0});",
    "{ static struct tm t; localtime_r(&(time_t){0}, &t); }",
    "ctime(&(time_t){0});",
    "{ static struct tm t; asctime(&t); }",
    "{ static struct tm t; mktime(&t); }",
    "{ static time_t t; time(&t); }",
    "{ static struct timeval t; gettimeofday(&t, NULL); }",
    "{ static struct timespec t; clock_gettime(CLOCK_REALTIME, &t); }",
    "{ static struct timespec t = {0, 1}; nanosleep(&t, NULL); t.tv_nsec = 2; }",
    "{ static struct timespec t; nanosleep(&(struct timespec){0, 1}, &t); }",
    "{ static struct timeval t; t.tv_usec = 1; select(0, NULL, NULL, NULL, &t); }",
    "{ static struct pollfd p; poll(&p, 1, 0); }",
    "{ static struct stat s; stat(\".\", &s); }",
    "{ static struct rusage r; getrusage(RUSAGE_SELF, &r); }",
    "{ static struct rlimit r; getrlimit(RLIMIT_NOFILE, &r); setrlimit(RLIMIT_NOFILE, &r); }",
    "{ static struct utsname u; uname(&u); }",
    "{ static struct tms t; times(&t); }",
    "{ static sigset_t s; sigemptyset(&s); pthread_sigmask(SIG_BLOCK, &s, NULL); }",
    "{ static struct sigaction a; a.sa_handler = SIG_IGN; sigaction(SIGUSR1, &a, NULL); }",
    "{ static char b[64]; (void)!getcwd(b, sizeof b); }",
    "{ static char b[64]; (void)!readlink(\".\", b, sizeof b); }",
    "{ static char b[64]; (void)!strerror_r(1, b, sizeof b); }",
    "{ static char b[64]; gethostname(b, sizeof b); }",
    "{ static char b[16] = \"x\"; pthread_setname_np(pthread_self(), b); b[0] = 'y'; }",
    "{ static cpu_set_t c; sched_getaffinity(0, sizeof c, &c); }",
    "{ static struct sched_param p; pthread_setschedparam(pthread_self(), SCHED_OTHER, &p); p.sched_priority = 0; }",
    "{ static pthread_attr_t a; pthread_attr_init(&a); pthread_attr_destroy(&a); }",
    "{ static char *line; static size_t n; (void)!getline(&line, &n, stdin); }",
    "{ static int status; (void)!system(NULL); status++; }",
    "strerror(2);",
    "strerror(1000);",
    "strsignal(9);",
    "setlocale(LC_ALL, \"C\");",
    "(void)!getlogin();",
    "(void)!ttyname(0);",
    "free(malloc(8));",
    "{ char *p = malloc(sizeof $); if (p) memcpy(p, &$, sizeof $); free(p); }",
    "{ char *p = calloc(1, sizeof $); if (p) memcpy(&$, p, sizeof $); free(p); }",
    "{ static char *p; p = realloc(p, 8); }",
    "{ static char *p; if (!p) p = strdup(\"x\"); }",
    "sched_yield();",
    "pthread_exit(NULL);",
    "exit(0);",
    "_exit(0);",
    "abort();",
    "{ static int old; pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old); }",
];

const RESULTS: [&str; 41] = [
    "umask(022)",
    "sched_get_priority_max(SCHED_FIFO) > 50",
    "isatty(1)",
    "fsync(1)",
    "getpid() % 2",
    "getppid() == 1",
    "getenv(\"HOME\")",
    "access(\"/dev/null\", 0) == 0",
    "open(\"/dev/null\", O_RDONLY) >= 0",
    "fopen(\"/dev/null\", \"r\")",
    "mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED",
    "socket(AF_INET, SOCK_STREAM, 0) >= 0",
    "time(NULL) > 5",
    "rand() % 2",
    "clock() >= 0",
    "nice(0)",
    "mlock(&errno, 1)",
    "mallopt(1, 1)",
    "malloc_trim(0)",
    "pthread_getconcurrency()",
    "setvbuf(stdout, NULL, _IOFBF, 64)",
    "getuid()",
    "sysconf(_SC_PAGESIZE) > 5000",
    "sysconf(_SC_NPROCESSORS_ONLN) > 1",
    "getchar() == EOF",
    "scanf(\"%*d\") == EOF",
    "chmod(\"/dev/null\", 0666)",
    "kill(getpid(), 0)",
    "setlocale(LC_ALL, NULL)[0] == 'C'",
    "malloc(4)",
    "flock(1, LOCK_SH)",
    "mprotect(NULL, 0, PROT_READ)",
    "setuid(0)",
    "write(1, \"x\", 1) == 1",
    "read(0, &(char){0}, 1) == 1",
    "dup(0) > 2",
    "pthread_self() == 0",
    "errno",
    "toupper('a') == 'A'",
    "strchr(\"ab\", 'b')",
    "usleep(1)",
];
