import type { Command } from 'commander';
import { createKeyFilter, type FilterRule } from './key-filter.ts';

export interface FilterFlags {
  filter?: FilterRule[];
}

/** Adds `--include` and `--exclude`, whose order matters. */
export function addFilterOptions(command: Command): Command {
  const rules: FilterRule[] = [];
  const add = (include: boolean) => (pattern: string) => {
    rules.push({ include, pattern });
    command.setOptionValue('filter', rules);
    return pattern;
  };
  return command
    .option('--exclude <pattern>', 'Skip matching names, such as "*.tmp"; repeatable', add(false))
    .option('--include <pattern>', 'Include matching names again; the last match wins', add(true));
}

export function createFilter({ filter = [] }: FilterFlags): (name: string) => boolean {
  return createKeyFilter(filter);
}
