import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectAgent } from '@svc/clusters/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCommandStore, type CommandStore } from './command-store.ts';

const MANIFEST = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings }\n';

describe('svc cluster and svc deploy without a connected agent', () => {
  let store: CommandStore;
  beforeAll(async () => {
    store = await startCommandStore({ environment: { SVC_SERVICES: '["clusters"]' } });
    await writeFile(join(store.folder, 'settings.yaml'), MANIFEST);
  });
  afterAll(() => store[Symbol.asyncDispose]());

  const fails = async (args: readonly string[]): Promise<{ exitCode: number | null; stderr: string }> => {
    const { exitCode, stderr } = await store.svc.run(args);
    return { exitCode, stderr };
  };

  it('creates, lists and deletes clusters, and rotates the token', async () => {
    expect(await store.svc.answer(['cluster', 'ls'])).toBe('');
    expect(await fails(['deploy', '-f', 'settings.yaml'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('svc cluster add NAME') as string,
    });
    const added = await store.svc.answer(['cluster', 'add', 'first']);
    expect(added).toMatch(/^Registered first \(cls-\S+\)\nToken of its agent, shown this once: svc_agt_\S+\n/);
    expect(added).toContain('helm upgrade --install');
    expect(added).toContain('| ctr -n k8s.io images import -');
    expect(added).toContain('svc agent image --data FOLDER');
    // Reinstalling would reset the chart's values, so only a new token is issued.
    const renewed = await store.svc.answer(['cluster', 'token', 'first', '--overlap', '1h']);
    expect(renewed).toMatch(/stringData: \{SVC_TOKEN: "svc_agt_/);
    expect(renewed).not.toContain('helm upgrade');
    expect(await store.svc.answer(['cluster', 'token', 'first', '--overlap', '1h', '--install'])).toContain(
      'helm upgrade',
    );
    const token = JSON.parse(await store.svc.answer(['cluster', 'token', 'first', '--overlap', '1h', '--json'])) as {
      token: string;
    };
    expect(token.token).toMatch(/^svc_agt_/);
    expect(added).not.toContain(token.token);
    expect(await store.svc.answer(['cluster', 'ls'])).toMatch(/^NAME .*\nfirst +cls-\S+ +pending +- +- +- +- +-\n$/);
    expect(await store.svc.answer(['cluster', 'status', 'first'])).toMatch(/Status +pending\n/);
    expect(await store.svc.answer(['cluster', 'kubeconfig', 'first'])).toContain('current-context: "first"');
    await store.svc.answer(['cluster', 'add', 'second']);
    expect(await store.svc.answer(['cluster', 'rm', 'second'])).toBe('Removed second\n');
    expect(await fails(['cluster', 'status', 'second'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('svc cluster ls lists') as string,
    });
    expect(await fails(['cluster', 'add', 'first'])).toMatchObject({ exitCode: 1 });
  });

  it('exits silently when its output is closed', async () => {
    await store.svc.answer(['cluster', 'add', 'read-by-nobody']);
    const answers = [
      ['cluster', 'ls'],
      ['cluster', 'ls', '--json'],
      ['cluster', 'status', 'read-by-nobody'],
    ];
    for (const args of [...answers, ['--help'], ['cluster', '--help'], ['agent', 'schema']]) {
      expect(await store.svc.runUnread(args)).toEqual({ exitCode: 0, stderr: '' });
    }
    await store.svc.answer(['cluster', 'rm', 'read-by-nobody']);
  });

  it('requires exactly one destination for the agent image', async () => {
    expect(await fails(['agent', 'image'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--output FILE or --data FOLDER') as string,
    });
    expect(await fails(['agent', 'image', '--output', 'a.tar', '--data', 'data'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('cannot be used with') as string,
    });
  });

  it('shows problems of an agent', async () => {
    const added = JSON.parse(await store.svc.answer(['cluster', 'add', 'late', '--json'])) as {
      id: string;
      token: string;
    };
    const port = Number(new URL(store.platform.ready.url).port);
    const agent = await connectAgent({ port, token: added.token, clusterId: added.id });
    agent.clockSkewMs = -3_600_000;
    agent.hello('instance-late');
    agent.heartbeat();
    await expect
      .poll(() => store.svc.answer(['cluster', 'status', 'late']), { timeout: 60_000 })
      .toMatch(/^Warning +The clock of the agent is 3[56]\d\d s behind the platform's/m);
    await agent.close();
    await store.svc.answer(['cluster', 'rm', 'late']);
  });

  it('reports that the agent is offline, or queues the deployment', async () => {
    expect(await fails(['deploy', 'first', '-f', 'settings.yaml', '--wait'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(
        'The agent of cluster first is not connected (svc cluster status shows when its agent was last seen)',
      ) as string,
    });
    expect(await fails(['cluster', 'pods', 'first'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('tunnel.enabled') as string,
    });
    expect(await fails(['exec', '-i', 'first', 'web-1', '--', 'cat'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('tunnel.enabled') as string,
    });
    expect(await fails(['forward', 'first', 'kubernetes', '0'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('its agent has no tunnel; tunnel.enabled') as string,
    });
    expect(await fails(['cluster', 'events', 'first', '--limit', '201'])).toMatchObject({ exitCode: 2 });
    const queued = await store.svc.answer(['deploy', 'first', '-f', 'settings.yaml', '--queue']);
    expect(queued).toMatch(/^Deployment dep-\S+ is queued; svc cluster deployments first/);
    expect(await store.svc.answer(['cluster', 'deployments', 'first', '--project', 'default'])).toMatch(/ queued /);
    expect(await store.svc.answer(['cluster', 'events', 'first'])).toBe('');
  });

  it.each([
    [['deploy', 'first'], '--file'],
    [['deploy', 'first', '-f', 'settings.yaml', '--prune'], '--project'],
    [['deploy', 'first', '-f', 'settings.yaml', '--timeout', 'soon'], 'soon'],
    [['exec', 'first', 'web-1'], '--'],
    [['exec', '-it', 'first', 'web-1'], 'requires a terminal'],
    [['logs', 'first', 'web-1', '--tail', 'all'], '--tail'],
    [['logs', 'first'], 'pod'],
  ])('rejects %j with exit code 2 and says %s', async (args, words) => {
    const { exitCode, stderr } = await fails(args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(words);
  });

  it('fails with the platform’s message for an invalid manifest', async () => {
    await writeFile(join(store.folder, 'none.yaml'), 'kind: [');
    expect(await fails(['deploy', 'first', '-f', 'none.yaml'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('Invalid request') as string,
    });
    expect((await fails(['deploy', 'first', '-f', 'gone.yaml'])).stderr).toContain('gone.yaml');
  });
});
