import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, readdir, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { CommandResult } from '@svc/protocol';
import { describeRequiring, fakeClock, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openJournal, type CommandJournal } from './journal.ts';

let folder: TemporaryFolder;
const clock = fakeClock();
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

function result(id: string, text = 'ok'): CommandResult {
  return {
    command_id: id,
    command: 'deploy',
    status: 'succeeded',
    started_at: '2026-01-01T00:00:00.000Z',
    finished_at: '2026-01-01T00:00:01.000Z',
    duration_ms: 1000,
    error: { code: 'X', message: text },
  };
}

async function reopened(journal: CommandJournal): Promise<CommandJournal> {
  await journal.close();
  return openJournal(folder.path, clock);
}

describe('the command journal', () => {
  it('restores finished, acknowledged and interrupted commands after a restart', async () => {
    let journal = await openJournal(folder.path, clock);
    for (const id of ['one', 'two', 'three']) await journal.begin(id, 'deploy');
    await journal.finish(result('one'));
    await journal.finish(result('two'));
    await journal.acknowledge(['one', 'unknown']);
    journal = await reopened(journal);
    expect(await journal.find('one')).toEqual({ state: 'finished', result: result('one') });
    expect(await journal.find('three')).toEqual({ state: 'running' });
    expect(await journal.find('four')).toBeNull();
    expect(journal.interrupted().map(({ commandId }) => commandId)).toEqual(['three']);
    expect(await journal.unacknowledged()).toEqual([result('two')]);
    await journal.close();
  });

  it('keeps a deploy until its result is stored, and counts its resumptions', async () => {
    const deploy = { project_id: 'shop', namespace: 'shop', manifest: 'kind: Secret # hunter2' };
    const files = () => readdir(join(folder.path, 'deploys'));
    let journal = await openJournal(folder.path, clock);
    await journal.begin('a/b', 'deploy', deploy);
    await journal.begin('bare', 'deploy');
    journal = await reopened(journal);
    expect(journal.interrupted()).toMatchObject([
      { commandId: 'a/b', resumes: 0 },
      { commandId: 'bare', resumes: 0 },
    ]);
    expect(await journal.resume('a/b')).toEqual(deploy);
    expect(await journal.resume('bare')).toBeNull();
    journal = await reopened(journal);
    expect(journal.interrupted()).toMatchObject([{ resumes: 1 }, { resumes: 1 }]);
    expect(await journal.resume('a/b')).toEqual(deploy);
    await journal.finish(result('a/b'));
    expect(await files()).toEqual([]);
    journal = await reopened(journal);
    expect(journal.interrupted().map(({ commandId }) => commandId)).toEqual(['bare']);
    expect(await readFile(join(folder.path, 'commands.jsonl'), 'utf8')).not.toContain('hunter2');
    await journal.close();
  });

  it('removes the deploy of a process killed right after the result', async () => {
    let journal = await openJournal(folder.path, clock);
    await journal.begin('one', 'deploy', { project_id: 'shop', namespace: 'shop', manifest: 'kind: ConfigMap' });
    const [name = ''] = await readdir(join(folder.path, 'deploys'));
    const left = await readFile(join(folder.path, 'deploys', name));
    await journal.finish(result('one'));
    await appendFile(join(folder.path, 'deploys', name), left);
    journal = await reopened(journal);
    expect(await readdir(join(folder.path, 'deploys'))).toEqual([]);
    await journal.close();
  });

  it('drops a line torn by a power failure, and keeps all earlier lines', async () => {
    let journal = await openJournal(folder.path, clock);
    await journal.begin('one', 'exec');
    await journal.finish(result('one'));
    await journal.close();
    const file = join(folder.path, 'commands.jsonl');
    const whole = await readFile(file);
    for (let size = whole.length - 1; size > 0; size -= 37) {
      await truncate(file, size);
      journal = await openJournal(folder.path, clock);
      await journal.begin(`after-${size}`, 'exec');
      journal = await reopened(journal);
      expect(journal.interrupted().map(({ commandId }) => commandId)).toContain(`after-${size}`);
      await journal.close();
    }
  });

  it('refuses an unusable folder and names the key to change', async () => {
    await appendFile(join(folder.path, 'file'), '');
    await expect(openJournal(join(folder.path, 'file', 'state'), clock)).rejects.toMatchObject({
      code: 'STATE_DIR_UNUSABLE',
      details: { key: 'agent.state_dir' },
    });
  });

  it('names the file and the damaged line, but not its content', async () => {
    const journal = await openJournal(folder.path, clock);
    await journal.begin('one', 'exec');
    await journal.close();
    await appendFile(join(folder.path, 'commands.jsonl'), 'password of somebody\n');
    const refusal = await openJournal(folder.path, clock).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: 'STATE_DIR_UNUSABLE',
      details: { reason: expect.stringMatching(/^line 2 of commands\.jsonl is damaged; move the file away/) },
    });
    expect(inspect(refusal, { depth: 5 })).not.toContain('password');
  });

  it('stays small: it compacts itself and keeps unacknowledged entries', async () => {
    let journal = await openJournal(folder.path, clock);
    const large = 'x'.repeat(900_000);
    await journal.finish(result('kept', 'first'));
    for (let index = 0; index < 50; index += 1) {
      await journal.finish(result(`big-${index}`, large));
      await journal.acknowledge([`big-${index}`]);
      if (index === 25) await clock.advance(25 * 3_600_000);
    }
    const size = (await readFile(join(folder.path, 'commands.jsonl'))).length;
    expect(size).toBeLessThan(40 * 1024 * 1024);
    expect(await journal.find('kept')).toEqual({ state: 'finished', result: result('kept', 'first') });
    expect(await journal.find('big-49')).toEqual({ state: 'finished', result: result('big-49', large) });
    journal = await reopened(journal);
    expect(await journal.unacknowledged()).toEqual([result('kept', 'first')]);
    expect(await journal.find('big-49')).toEqual({ state: 'finished', result: result('big-49', large) });
    await journal.close();
  });

  it('matches a model after any sequence of steps and restarts', async () => {
    const step = fc.record({ kind: fc.constantFrom('begin', 'finish', 'acknowledge', 'restart'), id: fc.nat(4) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        await using own = await temporaryFolder();
        let journal = await openJournal(own.path, clock);
        const model = new Map<string, 'running' | 'finished' | 'acknowledged'>();
        for (const { kind, id: number } of steps) {
          const id = `c-${number}`;
          if (kind === 'begin' && !model.has(id)) {
            await journal.begin(id, 'logs');
            model.set(id, 'running');
          } else if (kind === 'finish' && model.get(id) === 'running') {
            await journal.finish(result(id));
            model.set(id, 'finished');
          } else if (kind === 'acknowledge') {
            await journal.acknowledge([id]);
            if (model.get(id) === 'finished') model.set(id, 'acknowledged');
          } else if (kind === 'restart') {
            await journal.close();
            journal = await openJournal(own.path, clock);
          }
        }
        for (const [id, state] of model) {
          expect((await journal.find(id))?.state).toBe(state === 'running' ? 'running' : 'finished');
        }
        const open = [...model].filter(([, state]) => state === 'finished').map(([id]) => id);
        expect(journal.unacknowledgedIds().toSorted()).toEqual(open.toSorted());
        await journal.close();
      }),
      { numRuns: 40 },
    );
  });
});

describeRequiring(['root', 'linux'], 'a command journal on a full disk', () => {
  it('refuses a write that does not fit, and loses none of the later ones', async () => {
    const disk = join(folder.path, 'disk');
    await mkdir(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
    try {
      let journal = await openJournal(disk, clock);
      await journal.begin('one', 'deploy');
      await expect(journal.finish(result('one', 'x'.repeat(100_000)))).rejects.toMatchObject({ code: 'ENOSPC' });
      await journal.begin('two', 'deploy');
      await journal.finish(result('two'));
      expect(await journal.unacknowledged()).toEqual([result('two')]);
      await journal.close();
      journal = await openJournal(disk, clock);
      expect(await journal.find('two')).toEqual({ state: 'finished', result: result('two') });
      expect(journal.interrupted().map(({ commandId }) => commandId)).toEqual(['one']);
      await journal.close();
    } finally {
      execFileSync('umount', [disk]);
    }
  });
});
