import { skippedTitle } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const reason = localDriverReason();
const title = 'watching files of a real sandbox';

interface Told {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let id: string;

  const run = (command: string) => platform.call('POST', `/api/containers/${id}/exec`, { body: { command } });

  /** Reads server-sent events as they arrive; `until` waits for a match. */
  async function watch(query: string) {
    const gone = new AbortController();
    const answer = await fetch(`${platform.url}/api/containers/${id}/files/watch?${query}`, {
      headers: platform.owner.headers,
      signal: gone.signal,
    });
    const told: Told[] = [];
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    const over = (async () => {
      let text = '';
      for (;;) {
        const part = await reader?.read().catch(() => null);
        if (part === null || part === undefined || part.done) return;
        text += part.value;
        for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
          const match = /^event: (\w+)\ndata: (.*)$/s.exec(text.slice(0, end));
          if (match !== null) told.push({ event: match[1] ?? '', data: JSON.parse(match[2] ?? '{}') as Told['data'] });
          text = text.slice(end + 2);
        }
      }
    })();
    const until = (event: string, data: Readonly<Record<string, unknown>>) =>
      expect.poll(() => told, { timeout: 10_000 }).toContainEqual({ event, data: expect.objectContaining(data) });
    return { answer, told, until, over, close: () => gone.abort() };
  }

  beforeAll(async () => {
    platform = await startPlatform({ prepare: 'busybox' });
    const created = await platform.call('POST', '/api/sandboxes?wait_ms=30000', { body: { image: 'busybox' } });
    expect(created.body['status']).toBe('running');
    id = created.body['id'];
    await run('mkdir -p /srv/w/sub');
  });
  afterAll(async () => {
    await platform.dispose();
  });

  it('reports created, changed, moved and removed files, in subfolders too', async () => {
    const seen = await watch('path=/srv/w&recursive=true');
    expect(seen.answer.headers.get('content-type')).toBe('text/event-stream');
    await seen.until('watching', { path: '/srv/w', recursive: true, folders: 2 });
    await run('cd /srv/w && echo 1 > a && echo 2 > sub/b && mv a sub/c && mkdir -p new/deep && echo 3 > new/deep/d');
    await seen.until('created', { path: '/srv/w/a', is_dir: false });
    await seen.until('changed', { path: '/srv/w/sub/b' });
    await seen.until('moved', { path: '/srv/w/sub/c', from: '/srv/w/a' });
    await seen.until('created', { path: '/srv/w/new/deep', is_dir: true });
    await seen.until('created', { path: '/srv/w/new/deep/d' });
    await run(
      'mv /srv/w/new /srv/w/renamed && echo 4 > /srv/w/renamed/deep/e && rm /srv/w/sub/b && mv /srv/w/sub/c /tmp',
    );
    await seen.until('moved', { path: '/srv/w/renamed', from: '/srv/w/new', is_dir: true });
    await seen.until('created', { path: '/srv/w/renamed/deep/e' });
    await seen.until('removed', { path: '/srv/w/sub/b' });
    await seen.until('removed', { path: '/srv/w/sub/c' });
    seen.close();
    await seen.over;
  });

  it('reports a file written through the platform once, and only when complete', async () => {
    const seen = await watch('path=/srv/w');
    await seen.until('watching', { recursive: false });
    await platform.call('POST', `/api/containers/${id}/files`, {
      body: { path: '/srv/w/api', content: 'x', encoding: 'utf-8' },
    });
    await seen.until('created', { path: '/srv/w/api' });
    await platform.call('POST', `/api/containers/${id}/files`, {
      body: { path: '/srv/w/api', content: 'y', encoding: 'utf-8' },
    });
    await seen.until('changed', { path: '/srv/w/api' });
    expect(seen.told.filter(({ event }) => event !== 'watching')).toHaveLength(2);
    expect(JSON.stringify(seen.told)).not.toContain('.svc-');
    seen.close();
    await seen.over;
  });

  it('ends when the watched folder is removed or the sandbox stops', async () => {
    await run('mkdir /srv/gone');
    const seen = await watch('path=/srv/gone');
    await seen.until('watching', {});
    await run('rmdir /srv/gone');
    await seen.until('removed', { path: '/srv/gone' });
    await seen.over;
    const stopped = await watch('path=/srv/w');
    await stopped.until('watching', {});
    await platform.call('POST', `/api/containers/${id}/stop`);
    await stopped.over;
    await platform.call('POST', `/api/containers/${id}/start?wait_ms=30000`);
  });

  it('reports lost changes when the client does not read, and uses no memory for them', async () => {
    await run('mkdir -p /srv/flood');
    const answer = await fetch(`${platform.url}/api/containers/${id}/files/watch?path=/srv/flood`, {
      headers: platform.owner.headers,
    });
    const reader = answer.body?.getReader();
    await reader?.read();
    // Far more than the kernel's queue (16,384) and all windows on the way hold.
    await run('cd /srv/flood && i=0; while [ $i -lt 60000 ]; do : > f$((i % 500)); rm f$((i % 500)); i=$((i+1)); done');
    let text = '';
    const decoder = new TextDecoder();
    while (!text.includes('event: overflow')) {
      const part = await reader?.read();
      if (part === undefined || part.done) break;
      text = text.slice(-200) + decoder.decode(part.value, { stream: true });
    }
    expect(text).toContain('event: overflow');
    await reader?.cancel();
  }, 90_000);

  it('refuses a missing path and too many watches', async () => {
    const status = async (query: string): Promise<number> => {
      const { answer, close } = await watch(query);
      close();
      return answer.status;
    };
    expect(await status('path=/nowhere')).toBe(404);
    expect(await status('path=/srv/w&recursive=maybe')).toBe(400);
    const open = [];
    for (let count = 0; count < 16; count += 1) open.push(await watch('path=/srv/w'));
    expect(await status('path=/srv/w')).toBe(429);
    for (const each of open) each.close();
    await expect.poll(() => status('path=/srv/w')).toBe(200);
  });
});
