/* SPDX-License-Identifier: MIT */
/*
 * Completion scripts, printed from the tables of commands and options, so
 * that they cannot differ from what the program takes.
 */
#ifndef PF_CMD_COMPLETION_H
#define PF_CMD_COMPLETION_H

#include <stdio.h>

#define PF_SHELL_WORDS "bash|zsh|fish"
enum pf_shell { PF_SHELL_BASH, PF_SHELL_ZSH, PF_SHELL_FISH };

void pf_completion_print(enum pf_shell shell, FILE *out);

#endif
