import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** Libraries that some platforms never use, or only at the first start. */
const ON_DEMAND = ['@aws-sdk', '@bufbuild', '@connectrpc', '@peculiar', 'acme-client', 'pg', 'ssh2', 'zod'];
const PRELOAD = join(import.meta.dirname, 'stripped-sources.mjs');

it('a start loads no library that only some platforms use', () => {
  const script = `
    const loaded = new Set();
    process.getBuiltinModule('node:module').registerHooks({
      load(url, context, nextLoad) {
        loaded.add(/node_modules\\/(?:@[^/]+|[^/]+)/.exec(url)?.[0].slice('node_modules/'.length));
        return nextLoad(url, context);
      },
    });
    await import(${JSON.stringify(join(import.meta.dirname, 'start.ts'))});
    console.log(JSON.stringify([...loaded].filter((name) => name !== undefined)));
  `;
  const flags = ['--disable-warning=ExperimentalWarning', `--require=${PRELOAD}`, '--input-type=module'];
  const output = execFileSync(process.execPath, [...flags, '--eval', script], { encoding: 'utf8' });
  const loaded = JSON.parse(output) as string[]; // printed by the script
  expect(loaded).toContain('fastify');
  expect(loaded.filter((name) => ON_DEMAND.includes(name))).toEqual([]);
});
