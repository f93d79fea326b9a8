import type { Command } from 'commander';
import { usageFailure } from '../client/command-failure.ts';

/** An `--include` or `--exclude`, in the given order. */
export interface FilterRule {
  include: boolean;
  pattern: string;
}

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

/**
 * Creates a filter for relative names with slashes. Everything is included at first; each matching rule overrides the
 * previous ones, as in the aws command. `*` matches anything, including slashes; `?` one character; `[a-z]` one of
 * these. Throws for a range that is out of order.
 */
export function createKeyFilter(rules: readonly FilterRule[]): (name: string) => boolean {
  const compiled = rules.map(({ include, pattern }) => ({ include, expression: toExpression(pattern) }));
  return (name) => compiled.reduce((taken, { include, expression }) => (expression.test(name) ? include : taken), true);
}

function toExpression(pattern: string): RegExp {
  let source = '';
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at] ?? '';
    const close = character === '[' ? pattern.indexOf(']', at + 2) : -1;
    if (character === '*') {
      source += source.endsWith('.*') ? '' : '.*'; // two stars match the same as one, at much higher cost
    } else if (character === '?') source += '.';
    else if (close !== -1) {
      const inside = pattern.slice(at + 1, close).replaceAll(/[\\\]^[]/g, '\\$&');
      source += inside.startsWith('!') ? `[^${inside.slice(1)}]` : `[${inside}]`;
      at = close;
    } else source += character.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&');
  }
  try {
    return new RegExp(`^${source}$`, 'su');
  } catch {
    throw usageFailure(`${JSON.stringify(pattern)} is not a pattern`, 'write ranges in order, such as [a-z]');
  }
}
