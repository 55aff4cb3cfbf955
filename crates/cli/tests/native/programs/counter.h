void count(void);
int counted(void);
