/** One `--include` or `--exclude`, in the order in which they were given. */
export interface FilterRule {
  include: boolean;
  pattern: string;
}

/**
 * Whether a name (relative, with slashes) takes part. Everything does at first; each rule that fits changes that, so that
 * the last one wins, as in the aws command. `*` fits anything, also slashes; `?` one character; `[a-z]` one of these.
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
      source += source.endsWith('.*') ? '' : '.*'; // two stars mean no more than one, and cost much more
    } else if (character === '?') source += '.';
    else if (close !== -1) {
      const inside = pattern.slice(at + 1, close).replaceAll(/[\\\]^[]/g, '\\$&');
      source += inside.startsWith('!') ? `[^${inside.slice(1)}]` : `[${inside}]`;
      at = close;
    } else source += character.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&');
  }
  return new RegExp(`^${source}$`, 'su');
}
