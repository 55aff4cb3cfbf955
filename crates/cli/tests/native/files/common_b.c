int shared_number; void set(void) { shared_number = 7; }
