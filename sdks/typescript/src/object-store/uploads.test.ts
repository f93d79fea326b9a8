import { describe, expect, it } from 'vitest';
import { createClient } from '../client.ts';
import { ApiError } from '../errors.ts';

const data = (value: unknown): Response => Response.json({ success: true, message: 'ok', data: value });

interface Seen {
  method: string;
  path: string;
  query: Record<string, string>;
  sizeBytes: number;
}

/** A fake platform as a `fetch`: stores what it receives and fails as often as configured. */
function platform(
  options: { failParts?: number; arrived?: { partNumber: number; etag: string; size: number }[] } = {},
) {
  const seen: Seen[] = [];
  let failures = options.failParts ?? 0;
  let together = 0;
  let mostTogether = 0;
  const fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input);
    const bytes = await new Response(init.body ?? null).arrayBuffer();
    const path = url.pathname.replace('/api/v1/workspace/w/object-store/buckets/photos/objects', '');
    seen.push({
      method: init.method ?? 'GET',
      path,
      query: Object.fromEntries(url.searchParams),
      sizeBytes: bytes.byteLength,
    });
    const part = /^\/multipart\/up-1\/parts\/(\d+)$/.exec(path)?.[1];
    if (part !== undefined) {
      together += 1;
      mostTogether = Math.max(mostTogether, together);
      await new Promise((resolve) => setImmediate(resolve));
      together -= 1;
      if (failures-- > 0)
        return Response.json(
          { success: false, message: 'busy', data: { code: 'SlowDown' } },
          { status: 503, headers: { 'retry-after': '0' } },
        );
      return data({ partNumber: Number(part), etag: `etag-${part}`, size: bytes.byteLength });
    }
    if (path === '/multipart') return data({ uploadId: 'up-1', key: 'k', bucket: 'photos' });
    if (path === '/multipart/up-1/parts') return data({ parts: options.arrived ?? [], cursor: null });
    if (init.method === 'DELETE') return data({ aborted: true });
    return data({ key: 'k', etag: 'whole' });
  };
  const svc = createClient({ baseUrl: 'http://platform', credential: { kind: 'token', token: 't' }, fetch });
  return { seen, most: () => mostTogether, objects: svc.objectStore({ workspaceUuid: 'w' }).objects('photos') };
}

const partsIn = (seen: readonly Seen[]) =>
  seen.filter(({ path }) => path.includes('/parts/')).map(({ path }) => path.split('/').at(-1));

describe('an upload', () => {
  it('sends a small body in one request', async () => {
    const { seen, objects } = platform();
    await objects.upload('a/b c', 'hello');
    expect(seen).toEqual([{ method: 'PUT', path: '/content', query: { key: 'a/b c' }, sizeBytes: 5 }]);
  });

  it('sends a large body in concurrent parts, and completes them in order', async () => {
    const { seen, most, objects } = platform();
    const sent: number[] = [];
    await objects.upload('k', new Blob(['x'.repeat(95)]), {
      partSizeBytes: 10,
      concurrency: 3,
      onProgress: (sentBytes) => sent.push(sentBytes),
    });
    expect(partsIn(seen).toSorted((left, right) => Number(left) - Number(right))).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
      '7',
      '8',
      '9',
      '10',
    ]);
    expect(most()).toBe(3);
    expect(sent.at(-1)).toBe(95);
    expect(seen.at(-1)?.path).toBe('/multipart/up-1/complete');
  });

  it.each([
    [0, ['/content'], [0]],
    [9, ['/content'], [9]],
    [25, ['/multipart', '/multipart/up-1/complete'], [10, 10, 5]],
  ])('sends a stream of %d bytes whole or in parts, by its size', async (length, paths, sizes) => {
    const { seen, objects } = platform();
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < length; at += 7) controller.enqueue(new Uint8Array(Math.min(7, length - at)));
        controller.close();
      },
    });
    await objects.upload('k', stream, { partSizeBytes: 10, concurrency: 1 });
    expect(seen.filter(({ path }) => !path.includes('/parts/')).map(({ path }) => path)).toEqual(paths);
    expect(seen.filter(({ method }) => method === 'PUT').map(({ sizeBytes }) => sizeBytes)).toEqual(sizes);
  });

  it('retries a part while the platform is busy', async () => {
    const { seen, objects } = platform({ failParts: 2 });
    await objects.upload('k', new Blob(['x'.repeat(20)]), { partSizeBytes: 10, concurrency: 1 });
    expect(partsIn(seen)).toEqual(['1', '1', '1', '2']);
  });

  it('removes its parts when it fails, unless they are kept on request', async () => {
    for (const keepOnFailure of [false, true]) {
      const { seen, objects } = platform({ failParts: 100 });
      const upload = objects.upload('k', new Blob(['x'.repeat(20)]), {
        partSizeBytes: 10,
        concurrency: 1,
        keepOnFailure,
      });
      await expect(upload).rejects.toBeInstanceOf(ApiError);
      expect(seen.some(({ method }) => method === 'DELETE')).toBe(!keepOnFailure);
    }
  });

  it('resumes where it stopped', async () => {
    const { seen, objects } = platform({ arrived: [{ partNumber: 1, etag: 'etag-1', size: 10 }] });
    const body = new Blob(['x'.repeat(20)]);
    await objects.upload('k', body, { partSizeBytes: 10, resume: { uploadId: 'up-1' } });
    expect(partsIn(seen)).toEqual(['2']);
  });
});

describe('listing pages', () => {
  it('are fetched only as far as they are read', async () => {
    const cursors: (string | null)[] = [];
    const fetch = (input: string | URL | Request): Promise<Response> => {
      const cursor = new URL(input instanceof Request ? input.url : input).searchParams.get('cursor');
      cursors.push(cursor);
      return Promise.resolve(data({ objects: [{ key: `after-${cursor}` }], prefixes: [], cursor: `${cursor}x` }));
    };
    const svc = createClient({ baseUrl: 'http://platform', credential: { kind: 'none' }, fetch });
    const keys: string[] = [];
    for await (const { key } of svc.objectStore({ workspaceUuid: 'w' }).objects('photos').list()) {
      keys.push(key);
      if (keys.length === 2) break;
    }
    expect({ keys, cursors }).toEqual({ keys: ['after-null', 'after-nullx'], cursors: [null, 'nullx'] });
  });
});

describe('an error of the object store', () => {
  it('names the invalid fields', async () => {
    const answer = {
      success: false,
      message: 'Not valid',
      data: {
        code: 'InvalidArgument',
        request_id: 'r',
        resource: 'photos',
        details: [{ field: 'name', issue: 'too short' }],
      },
    };
    const fetch = (): Promise<Response> => Promise.resolve(Response.json(answer, { status: 400 }));
    const svc = createClient({ baseUrl: 'http://platform', credential: { kind: 'none' }, fetch });
    await expect(svc.objectStore({ workspaceUuid: 'w' }).buckets.create({ name: 'x' })).rejects.toMatchObject({
      status: 400,
      code: 'InvalidArgument',
      requestId: 'r',
      details: { resource: 'photos', issues: [{ field: 'name', issue: 'too short' }] },
    });
  });
});
