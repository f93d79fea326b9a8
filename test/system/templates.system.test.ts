import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@svc/sdk';
import { describeRequiring, temporaryFolder, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import { startPlatform, type RunningPlatform } from './running-platform.ts';

const sandboxesOf = ({ ready }: RunningPlatform) =>
  createClient({ baseUrl: ready.url, credential: { kind: 'token', token: ready.token } }).sandboxes;

describeRequiring(['linux', 'root'], 'a build of a template', () => {
  it('says that a kill of the platform ended it, leaves nothing, and continues from its cache', async () => {
    await using folder = await temporaryFolder();
    const dataFolder = join(folder.path, 'data');
    const environment = { SVC_SANDBOXES_IMAGE_REGISTRY: '', SVC_SERVICES: 'sandboxes' };
    const list = (name: string): string[] => readdirSync(join(dataFolder, 'sandboxes', name));
    const first = { run: 'echo kept > /kept' };
    let ended: string;
    let done: string;
    {
      await using platform = await startPlatform({ dataFolder, environment });
      const { templates } = sandboxesOf(platform);
      done = (await templates.build('done', { from: 'busybox', steps: [first] })).id;
      expect(await templates.waitForBuild('done', done)).toMatchObject({ status: 'ready' });
      ended = (await templates.build('app', { from: 'busybox', steps: [first, { run: 'echo begun; sleep 600' }] })).id;
      for await (const { message } of templates.logs('app', ended)) if (message === 'begun') break;
      expect(list('disks')).toHaveLength(1);
      await platform.kill();
    }
    await using platform = await startPlatform({ dataFolder, environment });
    const sandboxes = sandboxesOf(platform);
    const { templates } = sandboxes;
    expect(await templates.waitForBuild('app', ended)).toMatchObject({
      status: 'error',
      error: { message: 'The platform restarted during the build; build again' },
    });
    const messages: string[] = [];
    for await (const { message } of templates.logs('app', ended)) messages.push(message);
    expect(messages).toContain('begun');
    await waitFor(() => list('disks').length === 0);
    for await (const { name } of sandboxes.list()) throw new Error(`${name} was left`);
    const again = await templates.build('app', {
      from: 'busybox',
      steps: [first, { run: 'test "$(cat /kept)" = kept' }],
    });
    expect(await templates.waitForBuild('app', again.id)).toMatchObject({ status: 'ready', steps: 2, cached_steps: 1 });
    const sandbox = await sandboxes.create({ template: 'done' });
    expect((await sandbox.run('cat /kept')).stdout).toBe('kept\n');
    await sandbox.delete();
  });
});
