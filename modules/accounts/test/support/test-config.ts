import { Value } from 'typebox/value';
import { accountsConfigSchema, type AccountsConfig } from '../../src/config.ts';

type Sections = { [Key in keyof AccountsConfig]?: Partial<AccountsConfig[Key]> };

/** The defaults with a cheap password hash; sections are overridden one by one. */
export function testConfig(changes: Sections = {}): AccountsConfig {
  const cheap = { memory_kib: 8, passes: 1, parallelism: 1 };
  const wanted: Record<string, unknown> = { ...changes, password: { ...cheap, ...changes.password } };
  const sections = ['password', 'session', 'throttle', 'guest', 'limits'];
  const empty = Object.fromEntries(sections.map((name) => [name, {}]));
  return Value.Parse(accountsConfigSchema, Value.Default(accountsConfigSchema, { ...empty, ...wanted }));
}
