import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ChildProcess } from 'node:child_process';
import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubernetesRequirement } from '../kubernetes/index.ts';
import { startKubectl, type KubectlFixture } from './kubectl-fixture.ts';

const reason = await kubernetesRequirement();
const TITLE = 'kubectl with only the output of svc kubeconfig';
const IMAGE = 'localhost/busybox:1';

const POD = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'box', labels: { app: 'box' } },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'main',
        image: IMAGE,
        imagePullPolicy: 'IfNotPresent',
        command: [
          'sh',
          '-c',
          'n=0; mkdir -p /www; echo hello > /www/index.html; httpd -p 80 -h /www; while true; do echo line $n; n=$((n+1)); sleep 1; done',
        ],
      },
    ],
  },
});

describe.skipIf(reason !== null)(reason === null ? TITLE : skippedTitle(TITLE, reason), () => {
  let fixture: KubectlFixture;
  const children: ChildProcess[] = [];
  beforeAll(async () => {
    fixture = await startKubectl();
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await fixture?.[Symbol.asyncDispose]();
  });

  /** Collects the lines of a long-running program. */
  function follow(...args: string[]): { child: ChildProcess; lines: string[] } {
    const child = fixture.start(args);
    children.push(child);
    const lines: string[] = [];
    if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    child.stderr?.on('data', (chunk: Buffer) => lines.push(chunk.toString()));
    return { child, lines };
  }

  it('is readable by its owner only', async () => {
    expect((await stat(join(fixture.folder, 'kubeconfig'))).mode & 0o777).toBe(0o600);
  });

  it('gets and applies', async () => {
    expect(await fixture.kubectl(['get', 'nodes', '-o', 'name'])).toMatch(/^node\//);
    expect(await fixture.kubectl(['apply', '--server-side', '-f', '-'], POD)).toMatch(/pod\/box serverside-applied/);
    await fixture.kubectl(['wait', '--for=condition=Ready', 'pod/box', '--timeout=120s']);
    expect(await fixture.kubectl(['get', 'pod', 'box', '-o', 'jsonpath={.status.phase}'])).toBe('Running');
  });

  it('watches', async () => {
    const { child, lines } = follow('get', 'configmaps', '--watch-only', '-o', 'name');
    await waitFor(async () => {
      await fixture.kubectl(['create', 'configmap', `seen-${Date.now()}`]);
      return lines.some((line) => line.includes('configmap/seen-'));
    });
    child.kill();
    await once(child, 'close');
  });

  it('follows logs', async () => {
    const { child, lines } = follow('logs', '-f', 'box');
    await waitFor(() => lines.some((line) => line === 'line 3'), { timeoutMs: 30_000 });
    const seen = lines.length;
    await waitFor(() => lines.length > seen + 1, { timeoutMs: 30_000 });
    child.kill();
    await once(child, 'close');
  });

  it('runs commands, with standard input, exit codes and a terminal', async () => {
    const piped = await fixture.run(['exec', '-i', 'box', '--', 'sh', '-c', 'cat; echo to-stderr >&2; exit 7'], {
      input: 'from standard input',
    });
    expect(piped).toMatchObject({ exitCode: 7, stdout: 'from standard input' });
    expect(piped.stderr).toContain('to-stderr');
    const typed = await fixture.run(
      ['-qec', `${fixture.kubectlProgram} exec -it box -- sh -c "tty; stty size"`, '/dev/null'],
      {
        program: 'script',
      },
    );
    expect(typed.stdout).toMatch(/\/dev\/pts\/\d+/);
  });

  it('runs commands over SPDY too, as older clients do', async () => {
    const result = await fixture.run(
      ['-c', `KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false ${fixture.kubectlProgram} exec -i box -- cat`],
      {
        program: 'sh',
        input: 'over SPDY',
      },
    );
    expect(result).toMatchObject({ exitCode: 0, stdout: 'over SPDY' });
  });

  it('shows resource usage of nodes and pods', async () => {
    // The first metrics are available after the metrics server has polled the kubelet twice.
    const top = async (...what: string[]) => (await fixture.run(['top', ...what, '--no-headers'])).stdout;
    await waitFor(async () => /^box +\d+m +\d+Mi/m.test(await top('pod', 'box')), { timeoutMs: 120_000 });
    await waitFor(async () => /^node-1 +\d+m +\d+% +\d+Mi +\d+%/m.test(await top('node')), { timeoutMs: 60_000 });
  });

  it('copies files in and out', async () => {
    const bytes = Buffer.alloc(3 * 1024 * 1024, 'copy ');
    await writeFile(join(fixture.folder, 'there'), bytes);
    await fixture.kubectl(['cp', 'there', 'box:/tmp/file']);
    await fixture.kubectl(['cp', 'box:/tmp/file', 'back']);
    expect((await readFile(join(fixture.folder, 'back'))).equals(bytes)).toBe(true);
  });

  it('forwards ports', async () => {
    const { child, lines } = follow('port-forward', 'pod/box', ':80', '--address', '127.0.0.1');
    const port = await waitFor(() => /127\.0\.0\.1:(\d+) -> 80/.exec(lines.join('\n'))?.[1], { timeoutMs: 30_000 });
    const pages = [1, 2, 3].map(async () => (await fetch(`http://127.0.0.1:${port}/`)).text());
    expect(await Promise.all(pages)).toEqual(['hello\n', 'hello\n', 'hello\n']);
    child.kill();
    await once(child, 'close');
  });

  it('receives errors in its own format', async () => {
    const missing = await fixture.run(['get', 'pod', 'nothing']);
    expect(missing.stderr).toContain('pods "nothing" not found');
    await fixture.tunnels.agent.stop();
    const away = await fixture.run(['get', 'pods']);
    expect(away.exitCode).not.toBe(0);
    await fixture.tunnels.restartAgent();
    expect(await fixture.kubectl(['get', 'pod', 'box', '-o', 'name'])).toBe('pod/box\n');
  });
});
