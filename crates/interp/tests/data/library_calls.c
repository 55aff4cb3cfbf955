// Calls as many functions of the C library as one run can, each with memory of several kinds: globals, locals, heap blocks.
//@ args: -a other --size=7 -b last
//@ stdin: 12 word 3.5
#define _GNU_SOURCE
#include <malloc.h>
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#undef basename
char *plain_basename(const char *) __asm__("basename");
char *path_basename(char *) __asm__("__xpg_basename");
int plain_strerror_r(int, char *, size_t) __asm__("__xpg_strerror_r");
size_t strlcpy(char *, const char *, size_t);
size_t strlcat(char *, const char *, size_t);

static char text[64] = "one two,three";
static char other[64];
static int numbers[6] = {5, 3, 1, 4, 2, 0};
static char *pointers[3] = {text, text + 4, other};
static long checksum;

static void add(const void *pointer) { checksum += pointer != NULL; }

static int compare(const void *a, const void *b) {
  int x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return (x > y) - (x < y);
}

static int compare_with(const void *a, const void *b, void *calls) {
  ++*(int *)calls;
  return compare(a, b);
}

static int formatted(char *into, size_t size, const char *format, ...) {
  va_list values;
  va_start(values, format);
  int written = vsnprintf(into, size, format, values);
  va_end(values);
  return written;
}

static int scanned(const char *from, const char *format, ...) {
  va_list targets;
  va_start(targets, format);
  int found = vsscanf(from, format, targets);
  va_end(targets);
  return found;
}

static char *allocated(const char *format, ...) {
  char *into = NULL;
  va_list values;
  va_start(values, format);
  checksum += vasprintf(&into, format, values);
  va_end(values);
  return into;
}

static void memory(void) {
  char *block = malloc(40);
  int *zeros = calloc(6, sizeof *zeros);
  memcpy(block, pointers, sizeof pointers);
  memmove(block + 8, block, 16);
  add(mempcpy(zeros, numbers, sizeof numbers));
  bcopy(numbers, zeros, 8);
  bzero(zeros, 4);
  add(memset(block, 'x', 39));
  checksum += memcmp(block, block + 1, 8) + bcmp(text, other, 3);
  add(memchr(text, 't', sizeof text));
  add(memrchr(text, 't', sizeof text));
  add(rawmemchr(text, ','));
  add(memmem(text, sizeof text, "two", 3));
  add(memccpy(other, text, 'o', 20));
  block = realloc(block, 80);
  block = reallocarray(block, 10, 10);
  checksum += malloc_usable_size(block) > 0;
  free(block);
  free(zeros);
  void *aligned = aligned_alloc(64, 64), *more = NULL;
  checksum += posix_memalign(&more, 32, 100);
  free(aligned);
  free(more);
  void *map = mmap(NULL, 5000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(map, 5000);
}

static void strings(void) {
  char local[64];
  checksum += strlen(text) + strnlen(text, 5);
  add(strcpy(local, text));
  add(stpcpy(other, "begin"));
  add(strncpy(other, text, 10));
  add(stpncpy(other, text, 30));
  add(strcat(local, other));
  add(strncat(local, ", and more", 4));
  checksum += strlcpy(other, text, sizeof other) + strlcat(other, text, sizeof other) + strxfrm(other, text, 8);
  checksum += strcmp(text, other) + strncmp(text, other, 3) + strcasecmp(text, other) + strncasecmp(text, other, 2);
  add(strchr(text, 'w'));
  add(strrchr(text, 'e'));
  add(strchrnul(text, 'q'));
  add(strstr(text, "two"));
  add(strcasestr(text, "THREE"));
  add(strpbrk(text, ",;"));
  checksum += strspn(text, "one") + strcspn(text, " ");
  char *rest = local, *save = NULL;
  for (char *token = strtok_r(local, " ", &save); token; token = strtok_r(NULL, " ", &save)) add(token);
  strcpy(other, "a,b,c");
  for (char *token = strtok(other, ","); token; token = strtok(NULL, ",")) add(token);
  strcpy(local, "k=v;w");
  while (strsep(&rest, "=;")) checksum++;
  char *copy = strdup(text), *part = strndup(text, 3);
  add(strerror(ENOENT));
  add(strsignal(SIGTERM));
  plain_strerror_r(ENOENT, other, sizeof other);
  add(plain_basename("/usr/lib/x"));
  strcpy(other, "/usr/lib/x/");
  add(path_basename(other));
  strcpy(other, "/usr/lib/x/");
  add(dirname(other));
  free(copy);
  free(part);
}

static void conversions(void) {
  char *end;
  double whole;
  int exponent;
  unsigned seed = 7;
  unsigned short state[3] = {1, 2, 3};
  checksum += atoi("12") + atol("13") + atoll("14") + (long)atof("1.5");
  strcpy(other, "17 0x1f 3.5e1");
  checksum += strtol(other, &end, 10) + strtoul(end, &end, 0) + (long)strtod(end, &end);
  checksum += strtoll(other, NULL, 0) + strtoull(other, &end, 10) + (long)strtof(end, &end) + (long)strtold(other, &end);
  checksum += (long)modf(3.25, &whole) + (long)frexp(8.0, &exponent) + rand_r(&seed) + (long)erand48(state);
  checksum += isalpha('x') + toupper('x') + abs(-3) + (long)sqrt(16.0) + rand() % 2;
  qsort(numbers, 6, sizeof *numbers, compare);
  qsort_r(numbers, 6, sizeof *numbers, compare_with, &exponent);
  qsort(pointers, 3, sizeof *pointers, compare);
  int key = 4;
  add(bsearch(&key, numbers, 6, sizeof *numbers, compare));
  setenv("RADDLE_NAME", text, 1);
  add(getenv("RADDLE_NAME"));
  unsetenv("RADDLE_NAME");
  getrandom(other, 8, 0);
}

static void input_and_output(void) {
  int first = 0, position = 0;
  char word[16], *made = NULL, *line = NULL;
  size_t room = 0;
  FILE *file = fopen("file of the run", "w+");
  fprintf(file, "%s %d%n\n", text, 3, &position);
  fputs(text, file);
  fputc('\n', file);
  fwrite(numbers, sizeof *numbers, 6, file);
  rewind(file);
  add(fgets(other, sizeof other, file));
  while (getline(&line, &room, file) > 0) checksum++;
  rewind(file);
  checksum += getdelim(&line, &room, ' ', file);
  fseek(file, 1, SEEK_SET);
  checksum += fread(numbers, 1, 8, file);
  checksum += fscanf(file, "%15s", word);
  fclose(file);
  free(line);
  checksum += scanf("%d %15s", &first, word);
  checksum += sscanf("5 six", "%d %s", &first, word) + scanned("7 eight", "%d %15s", &first, word);
  sprintf(other, "%s-%d", word, first);
  snprintf(other, 8, "%s", text);
  formatted(other, sizeof other, "%s %d %s", word, first, text);
  checksum += asprintf(&made, "%s!", word);
  free(made);
  free(allocated("%s %d", text, 4));
  int descriptor = open("second file", O_RDWR | O_CREAT, 0600);
  struct iovec pieces[2] = {{text, 4}, {word, 2}};
  checksum += write(descriptor, text, 10) + writev(descriptor, pieces, 2);
  lseek(descriptor, 0, SEEK_SET);
  checksum += read(descriptor, other, 6) + pread(descriptor, word, 3, 1) + pwrite(descriptor, word, 2, 0);
  struct stat about;
  fstat(descriptor, &about);
  checksum += stat("second file", &about) + access("second file", R_OK) + rename("second file", "third");
  close(descriptor);
  unlink("third");
  remove("file of the run");
  puts(text);
  perror("message");
}

static void system_questions(void) {
  time_t now = time(NULL), again;
  struct tm parts;
  struct timeval day;
  struct timezone zone;
  struct timespec clock;
  struct tms spent;
  struct utsname names;
  struct rusage usage;
  struct rlimit limit;
  struct sigaction before;
  struct pollfd entry = {0, POLLIN, 0};
  struct timeval timeout = {0, 1};
  fd_set set;
  sigset_t signals, old;
  time(&again);
  gettimeofday(&day, (void *)&zone);
  clock_gettime(CLOCK_MONOTONIC, &clock);
  clock_getres(CLOCK_REALTIME, &clock);
  timespec_get(&clock, TIME_UTC);
  times(&spent);
  add(localtime(&now));
  add(gmtime(&now));
  add(localtime_r(&now, &parts));
  now = mktime(&parts);
  add(asctime(&parts));
  add(ctime(&now));
  add(asctime_r(&parts, other));
  add(ctime_r(&now, other));
  checksum += strftime(other, sizeof other, "%Y-%m-%d", &parts) > 0;
  uname(&names);
  gethostname(other, sizeof other);
  getrusage(RUSAGE_SELF, &usage);
  getrlimit(RLIMIT_NOFILE, &limit);
  add(getcwd(other, sizeof other));
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigdelset(&signals, SIGTERM);
  checksum += sigismember(&signals, SIGINT);
  sigfillset(&signals);
  sigprocmask(SIG_BLOCK, &signals, &old);
  sigaction(SIGINT, NULL, &before);
  poll(&entry, 1, 1);
  FD_ZERO(&set);
  select(1, &set, NULL, NULL, &timeout);
  add(setlocale(LC_ALL, "C"));
  errno = 0;
}

static void attributes(void) {
  pthread_attr_t attr;
  pthread_mutexattr_t mutex;
  pthread_condattr_t cond;
  int state;
  size_t size;
  pthread_attr_init(&attr);
  pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
  pthread_attr_getdetachstate(&attr, &state);
  pthread_attr_setstacksize(&attr, 1 << 20);
  pthread_attr_getstacksize(&attr, &size);
  pthread_mutexattr_init(&mutex);
  pthread_mutexattr_settype(&mutex, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutexattr_gettype(&mutex, &state);
  pthread_mutexattr_setrobust(&mutex, PTHREAD_MUTEX_ROBUST);
  pthread_mutexattr_getrobust(&mutex, &state);
  pthread_condattr_init(&cond);
}

static void at_the_end(void) { puts("end"); }

int main(int argc, char **argv) {
  static int flag;
  static const struct option known[] = {{"size", required_argument, NULL, 's'}, {"set", no_argument, &flag, 1}, {0}};
  int letter, index = 0;
  atexit(at_the_end);
  while ((letter = getopt_long(argc, argv, "ab:", known, &index)) != -1) {
    if (optarg) checksum += strlen(optarg);
    checksum += letter;
  }
  optind = 1;
  while (getopt(argc, argv, "+ab:") != -1) checksum++;
  memory();
  strings();
  conversions();
  input_and_output();
  system_questions();
  attributes();
  printf("%s %d %c %p\n", text, optind, 'c', (void *)0);
  warnx("%s", text);
  return checksum == 0;
}
