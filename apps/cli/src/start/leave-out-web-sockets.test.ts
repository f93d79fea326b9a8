import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const MODULE = fileURLToPath(new URL('leave-out-web-sockets.ts', import.meta.url));

/** Whether running the code loads Node.js's undici. */
function loadsUndici(code: string): boolean {
  const list = 'process.stdout.write(process.moduleLoadList.join())';
  const script = `${code} await import('node:http'); ${list};`;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  return output.includes('internal/deps/undici/undici');
}

describe('an import of node:http', () => {
  it('does not load undici, which it would otherwise', () => {
    expect(loadsUndici('')).toBe(true);
    expect(loadsUndici(`(await import(${JSON.stringify(MODULE)})).leaveOutWebSockets();`)).toBe(false);
  });
});
