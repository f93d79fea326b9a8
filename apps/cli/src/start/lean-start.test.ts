import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const MODULE = fileURLToPath(new URL('lean-start.ts', import.meta.url));

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

describe('postponeOptimizing', () => {
  it('optimizes no function until the returned function is called, without complaints of V8', () => {
    const script = `
      import { postponeOptimizing } from ${JSON.stringify(MODULE)};
      const isOptimized = new Function('work', 'return %ActiveTierIsMaglev(work) || %ActiveTierIsTurbofan(work)');
      function work(count) { let sum = 0; for (let i = 0; i < count; i++) sum += Math.sqrt(i) % 3; return sum; }
      const heat = async (rounds) => {
        for (let i = 0; i < rounds && !isOptimized(work); i++) { work(20_000); await new Promise(setImmediate); }
        return isOptimized(work);
      };
      const optimizeAgain = postponeOptimizing();
      const postponed = await heat(200);
      optimizeAgain();
      console.log(JSON.stringify([postponed, await heat(100_000)]));`;
    const flags = ['--allow-natives-syntax', '--input-type=module', '--eval', script];
    const { stdout, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' });
    expect(JSON.parse(stdout)).toEqual([false, true]);
    expect(stderr).toBe('');
  });
});
