import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeRequiring, temporaryFolder, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';

const MAIN = join(import.meta.dirname, '../../main.ts');
const PRELOAD = `--require=${join(import.meta.dirname, '../../start/stripped-sources.mjs')}`;

describeRequiring(['linux'], 'svc agent', () => {
  it('turns its process into the agent, without a parent process and bundled as delivered', async () => {
    await using folder = await temporaryFolder();
    const env = {
      PATH: process.env['PATH'] ?? '',
      CLUSTER_NAME: 'test-cluster',
      SVC_API_URL: 'http://127.0.0.1:1',
      SVC_TOKEN: 'svc_agt_token_of_the_test',
      SVC_STATE_DIR: join(folder.path, 'state'),
      SVC_AGENT_PORT: '0',
      SVC_METRICS_PORT: '0',
      KUBECONFIG: join(folder.path, 'kubeconfig'),
    };
    const clusters = [{ name: 'away', cluster: { server: 'http://127.0.0.1:1' } }];
    const contexts = [{ name: 'away', context: { cluster: 'away', user: 'away' } }];
    const users = [{ name: 'away', user: {} }];
    await writeFile(env.KUBECONFIG, JSON.stringify({ 'current-context': 'away', clusters, contexts, users }));
    const child = spawn(process.execPath, [PRELOAD, MAIN, 'agent', 'run'], { env, stdio: 'ignore' });
    const gone = once(child, 'exit');
    try {
      const processFile = (name: string) => readFile(`/proc/${child.pid}/${name}`, 'utf8');
      const words = await waitFor(
        async () => {
          const found = (await processFile('cmdline')).split('\0');
          return found.some((each) => each.endsWith('.cache/agent/svc-agent.cjs')) ? found : null;
        },
        { timeoutMs: 50_000 },
      );
      expect(words).toContain('--optimize-for-size');
      expect(words).not.toContain(PRELOAD);
      expect(await processFile(`task/${child.pid}/children`)).toBe('');
    } finally {
      child.kill('SIGKILL');
      await gone;
    }
  });
});
