import { PROTOCOL_LIMITS, type CommandResult } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { fitIntoFrame } from './fit-into-frame.ts';

const AT = '2026-01-01T00:00:00.000Z';
const RESULT = { command_id: 'cmd-1', started_at: AT, finished_at: AT, duration_ms: 1 } as const;

describe('a result larger than a frame', () => {
  it('lists failures first, and reports how much was omitted', () => {
    const resources = Array.from({ length: 2000 }, (_, index) => ({
      api_version: 'v1',
      kind: 'ConfigMap',
      namespace: 'default',
      name: `${index}-${'x'.repeat(240)}`,
      action: index === 1999 ? ('failed' as const) : ('created' as const),
      health: 'ready' as const,
      message: 'm'.repeat(1000),
      error: { code: 'KUBERNETES_ERROR', message: 'e'.repeat(1000) },
    }));
    const deploy = {
      project_id: 'p',
      namespace: 'default',
      dry_run: false,
      manifest_sha256: 'a'.repeat(64),
      partially_applied: true,
      summary: { created: 1999, configured: 0, unchanged: 0, pruned: 0, skipped: 0, failed: 1 },
      resources,
      warnings: [],
    };
    const fitted = fitIntoFrame({ ...RESULT, command: 'deploy', status: 'failed', deploy }, 256 * 1024);
    expect(Buffer.byteLength(JSON.stringify(fitted))).toBeLessThan(256 * 1024);
    const kept = fitted.deploy?.resources ?? [];
    expect(kept[0]?.name).toBe(resources[1999]?.name);
    expect(kept.length).toBeGreaterThan(100);
    expect(fitted.deploy?.warnings).toEqual([`${2000 - kept.length} resources were omitted: the result was too large`]);
    expect(fitted.deploy?.summary).toEqual(deploy.summary);
  });

  it('omits the output of an exec, and keeps how it ended', () => {
    const text = 'x'.repeat(PROTOCOL_LIMITS.outputChunkSizeBytes);
    const exec: CommandResult['exec'] = {
      exit_code: 3,
      container: 'web',
      stdout_bytes: text.length,
      stderr_bytes: text.length,
      truncated: false,
      process_may_be_running: false,
      stdout: text,
      stderr: text,
      encoding: 'utf8',
    };
    const fitted = fitIntoFrame({ ...RESULT, command: 'exec', status: 'succeeded', exec }, 64 * 1024);
    expect(fitted.exec).toMatchObject({ exit_code: 3, truncated: true, stdout_bytes: text.length });
    expect(fitted.exec?.stdout).toBeUndefined();
  });
});
