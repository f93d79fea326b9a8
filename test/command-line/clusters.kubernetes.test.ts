import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeRequiring, skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubernetesRequirement, startKubernetes, type Kubernetes } from '../kubernetes/index.ts';
import { startCutProxy } from '../sdk/cut-proxy.ts';
import { startAgent, type RunningAgent } from '../system/cluster-walk.ts';
import { runProgram } from '../system/run-program.ts';
import { PROJECT_ROOT } from '../system/running-platform.ts';
import { startCommandStore, type CommandStore } from './command-store.ts';

const reason = await kubernetesRequirement();
const TITLE = 'svc cluster, deploy, exec and logs';
const MiB = 1024 * 1024;

function manifestOf(name: string, lines: string): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name} }
spec:
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - name: main
          image: localhost/busybox:1
          imagePullPolicy: IfNotPresent
          command: [sh, -c, "${lines}; exec sleep 86400"]
`;
}

describe.skipIf(reason !== null)(reason === null ? TITLE : skippedTitle(TITLE, reason), () => {
  describeRequiring(['command:python3'], 'on a terminal and in pipes', () => {
    let kubernetes: Kubernetes;
    let store: CommandStore;
    let agent: RunningAgent | undefined;
    beforeAll(async () => {
      kubernetes = await startKubernetes();
      store = await startCommandStore({ environment: { SVC_SERVICES: '["clusters"]' } });
      const { id, token } = JSON.parse(await store.svc.answer(['cluster', 'add', 'home', '--json'])) as {
        id: string;
        token: string;
      };
      const stateFolder = join(store.home, 'agent');
      await mkdir(stateFolder);
      agent = startAgent({
        url: store.platform.ready.url,
        token,
        clusterName: 'home',
        clusterId: id,
        kubeconfig: kubernetes.kubeconfig,
        stateFolder,
        environment: { TUNNEL_ENABLED: 'true' },
      });
      // Both connections are up once a read through the second one succeeds.
      await waitFor(async () => (await store.svc.run(['cluster', 'nodes', 'home'])).exitCode === 0, {
        timeoutMs: 120_000,
        intervalMs: 500,
        description: () => `the agent; it said:\n${agent?.log()}`,
      });
      await writeFile(join(store.folder, 'box.yaml'), manifestOf('box', 'echo hello from the box'));
    });
    afterAll(async () => {
      await agent?.stop();
      await store?.[Symbol.asyncDispose]();
      await kubernetes?.stop();
    });

    it('deploys: shows the changes, the progress and the result', async () => {
      const dry = await store.svc.answer(['deploy', 'home', '-f', 'box.yaml', '--dry-run']);
      expect(dry).toMatch(/created .*Deployment\/box/);
      expect(dry).toContain('nothing was changed');
      expect(await kubernetes.kubectl('get', 'deployments', '-o', 'name')).toBe('');
      // The only cluster need not be named.
      const wet = await store.svc.answer(['deploy', '-f', '-', '--wait', '--timeout', '3m'], {
        input: manifestOf('box', 'echo hello from the box'),
      });
      expect(wet).toMatch(/created +ready +Deployment\/box in default/);
      expect(wet).toMatch(/succeeded; 1 created/);
      const list = await store.svc.answer(['cluster', 'deployments', 'home']);
      expect(list).toMatch(/dep-\S+ +default +default +succeeded/);
    });

    it('exits with 1 and the reason when a deployment fails', async () => {
      const input = 'apiVersion: example.org/v1\nkind: Nonsense\nmetadata: { name: a }\n';
      const failed = await store.svc.run(['deploy', 'home', '-f', '-', '--wait'], { input });
      expect(failed.exitCode).toBe(1);
      expect(failed.stderr).toContain('Nonsense');
      const two = await store.svc.run(['deploy', 'home', '-f', '-', '--wait'], {
        input: `${input}---\n${input.replaceAll('Nonsense', 'Rubbish')}`,
      });
      expect(two.stderr).toMatch(/^svc: manifest\[0\].*Nonsense$/m);
      expect(two.stderr).toMatch(/^svc: manifest\[1\].*Rubbish$/m);
      const json = await store.svc.run(['deploy', 'home', '-f', '-', '--wait', '--json'], { input });
      expect(json.exitCode).toBe(1);
      expect(JSON.parse(json.stdout.toString())).toMatchObject({ status: 'failed' });
    });

    it('prunes only what this project no longer declares', async () => {
      const both = `${manifestOf('left', 'true')}---\n${manifestOf('right', 'true')}`;
      const project = ['--project', 'pair', '--wait', '--timeout', '3m'];
      await store.svc.answer(['deploy', 'home', '-f', '-', ...project], { input: both });
      const input = manifestOf('left', 'true');
      const pruned = await store.svc.answer(['deploy', 'home', '-f', '-', '--prune', ...project], { input });
      expect(pruned).toMatch(/pruned .*Deployment\/right/);
      expect(await kubernetes.kubectl('get', 'deployments', '-o', 'name')).toBe(
        'deployment.apps/box\ndeployment.apps/left\n',
      );
    });

    it('lists nodes, workloads and pods', async () => {
      expect(await store.svc.answer(['cluster', 'nodes', 'home'])).toMatch(/ ready /);
      expect(await store.svc.answer(['cluster', 'workloads', 'home', '-n', 'default'])).toMatch(
        /Deployment +default +box +available +1\/1 +localhost\/busybox:1/,
      );
      expect(await store.svc.answer(['cluster', 'pods', 'home', '--name', 'box-'])).toMatch(
        /default +box-\S+ +1\/1 +Running +0 /,
      );
      expect(await store.svc.answer(['cluster', 'status', 'home'])).toMatch(/Status +online/);
    });

    it('runs commands with separate outputs, exit codes and stdin of any length', async () => {
      const script = ['--', 'sh', '-c', 'echo out; echo err >&2; exit 7'];
      const ran = await store.svc.run(['exec', 'home', 'deployment/box', '-c', 'main', ...script]);
      expect(ran).toMatchObject({ exitCode: 7, stderr: 'err\n' });
      expect(ran.stdout.toString()).toBe('out\n');
      const json = await store.svc.run(['exec', 'home', 'deploy/box', '--json', ...script]);
      expect(JSON.parse(json.stdout.toString())).toMatchObject({ exit_code: 7, stdout: 'out\n', stderr: 'err\n' });
      const input = Buffer.alloc(3 * MiB, 'standard input ');
      const piped = await store.svc.run(['exec', '-i', 'home', 'deployment/box', '--', 'cat'], { input });
      expect(piped.exitCode).toBe(0);
      expect(piped.stdout.equals(input)).toBe(true);
      const ended = await store.svc.run(['exec', '-i', 'home', 'deployment/box', '--', 'sh', '-c', 'cat; exit 3']);
      expect(ended.exitCode).toBe(3);
    });

    it('explains what is wrong with a target', async () => {
      const gone = await store.svc.run(['exec', 'home', 'gone', '--', 'true']);
      expect(gone).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('gone') as string });
      const shell = await store.svc.run(['exec', '-i', 'home', 'gone', '--', 'true']);
      expect(shell).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('"gone" not found') as string });
      const none = await store.svc.run(['logs', 'home', 'deployment/gone']);
      expect(none).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('Deployment gone not found') as string,
      });
      const kind = await store.svc.run(['logs', 'home', 'secret/gone']);
      expect(kind).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('deployment/web') as string });
    });

    it('opens a shell that follows the terminal size and returns the exit code', async () => {
      const { url, token } = store.platform.ready;
      const input = JSON.stringify({
        argv: [join(PROJECT_ROOT, 'svc'), 'exec', '-it', 'home', 'deployment/box'],
        env: { PATH: process.env['PATH'] ?? '', HOME: store.home, SVC_URL: url, SVC_TOKEN: token },
        cols: 91,
        rows: 31,
        steps: [
          { see: '[#$] ' },
          { type: 'stty size\r' },
          { see: '31 91' },
          { resize: [92, 32] },
          // The new size reaches the container separately.
          { type: 'until stty size | grep "32 92"; do sleep 0.1; done; echo se""en\r' },
          { see: 'seen' },
          { type: 'exit 5\r' },
        ],
      });
      const script = fileURLToPath(new URL('terminal.py', import.meta.url));
      const seen: unknown = JSON.parse(await runProgram('python3', [script], { input }));
      expect(seen).toMatchObject({ exit_code: 5, restored: true });
    });

    it('prints logs and follows them until Ctrl-C', async () => {
      expect(await store.svc.answer(['logs', 'home', 'deployment/box'])).toBe('hello from the box\n');
      const { child, ended } = store.svc.start(['logs', '-f', 'home', 'deployment/box', '--timestamps']);
      await new Promise((resolve) => child.stdout?.once('data', resolve));
      child.kill('SIGINT');
      const { exitCode, stdout } = await ended;
      expect(exitCode).toBe(130);
      expect(stdout.toString()).toMatch(/^\d{4}-\S+ hello from the box\n$/);
    });

    it('keeps following logs after a lost connection, prints each line once, and reports the loss', async () => {
      await using proxy = await startCutProxy(store.platform.ready.url);
      const count = 'i=0; while true; do i=$((i+1)); echo tick-$i; sleep 0.2; done';
      await writeFile(join(store.folder, 'ticks.yaml'), manifestOf('ticks', count));
      await store.svc.answer(['deploy', 'home', '-f', 'ticks.yaml', '--project', 'ticks', '--wait']);
      const { child, ended } = store.svc.start(['logs', '-f', 'home', 'deployment/ticks', '--tail', '10000'], {
        environment: { SVC_URL: proxy.url },
      });
      let seen = '';
      child.stdout?.on('data', (chunk: Buffer) => (seen += chunk.toString()));
      const lines = (): string[] => seen.split('\n').slice(0, -1);
      for (const more of [5, 5]) {
        const goal = lines().length + more;
        await waitFor(() => lines().length >= goal, { timeoutMs: 120_000, description: 'lines' });
        proxy.cut();
      }
      const goal = lines().length + 5;
      await waitFor(() => lines().length >= goal, { timeoutMs: 120_000, description: 'lines after the cuts' });
      child.kill('SIGINT');
      const { stderr } = await ended;
      expect(lines()).toEqual(lines().map((_line, index) => `tick-${index + 1}`));
      expect(stderr).toContain('resuming after the last line');
    });

    it('prints past events and follows new ones', async () => {
      const { child, ended } = store.svc.start(['cluster', 'events', 'home', '-f', '--type', 'scaled', '--json']);
      let lines = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => (lines += text));
      // The command does not signal when it is listening, so keep causing events.
      let replicas = 1;
      await waitFor(
        async () => {
          replicas = 3 - replicas;
          await kubernetes.kubectl('scale', 'deployment/left', `--replicas=${replicas}`);
          return lines.includes('"scaled"');
        },
        { timeoutMs: 60_000, intervalMs: 1000 },
      );
      child.kill('SIGINT');
      expect((await ended).exitCode).toBe(130);
      expect(await store.svc.answer(['cluster', 'events', 'home', '--type', 'scaled'])).toContain('scaled');
      expect(await store.svc.answer(['cluster', 'events', 'home', '--limit', '0'])).toBe('');
    });
  });
});
