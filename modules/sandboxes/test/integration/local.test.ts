import { skippedTitle } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { TerminalClient } from '../support/terminal-client.ts';

const reason = localDriverReason();
const title = 'sandboxes on this machine';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let id: string;
  const open = (query = '', protocols: string[] = []) =>
    TerminalClient.open(platform.url, id, { query, protocols, headers: platform.owner.headers });

  beforeAll(async () => {
    platform = await startPlatform();
    const created = await platform.call('POST', '/api/containers?wait_ms=30000', {
      body: { image: 'debian', name: 'box', environment: { GREETING: 'hällo' } },
    });
    expect(created).toMatchObject({ status: 201, body: { status: 'running', name: 'box', driver: 'local' } });
    id = created.body['id'];
  });
  afterAll(async () => {
    await platform.call('DELETE', `/api/containers/${id}`);
    await platform.dispose();
  });

  it('opens a login shell with the requested size and follows a resize', async () => {
    const terminal = await open('?cols=100&rows=40');
    terminal.type('stty size; echo "$GREETING"; hostname; echo "[$HOME]"\n');
    await terminal.shows(/40 100\r\n/);
    await terminal.shows(/hällo\r\nbox\r\n\[\/root\]/);
    terminal.send(JSON.stringify({ type: 'resize', cols: 132, rows: 50 }));
    terminal.type('stty size\n');
    await terminal.shows(/50 132\r\n/);
    terminal.type('exit\n');
    expect(await terminal.closed).toEqual({ code: 1000, reason: '{"exit_code":0}' });
  });

  it.each([
    ['exit 0', '{"exit_code":0}'],
    ['exit 1', '{"exit_code":1}'],
    ['exit 7', '{"exit_code":7}'],
    ['kill -9 $$', '{"exit_code":137,"signal":"SIGKILL"}'],
  ])("closes with the shell's exit status after: %s", async (line, closeReason) => {
    const terminal = await open();
    terminal.type(`${line}\n`);
    expect(await terminal.closed).toEqual({ code: 1000, reason: closeReason });
  });

  it('sends all output before the close, even if the shell leaves a background job', async () => {
    const terminal = await open();
    terminal.type('(sleep 30 &) ; seq 1 20000; exit 3\n');
    expect(await terminal.closed).toMatchObject({ code: 1000, reason: '{"exit_code":3}' });
    expect(terminal.text).toMatch(/\r\n20000\r\n/);
  });
});
