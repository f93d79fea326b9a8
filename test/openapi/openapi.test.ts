import { readFileSync } from 'node:fs';
import { renderOpenApi } from '@svc/platform';
import { describe, expect, it } from 'vitest';

interface Operation {
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly operationId?: string;
}

const committed = readFileSync(new URL('../../api/openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(committed) as { paths: Record<string, Record<string, Operation>> }; // our own file
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);

describe('api/openapi.json', () => {
  it('matches the routes; ./svc openapi regenerates it', async () => {
    expect(committed).toBe(await renderOpenApi());
  });

  it('gives every operation a summary and a tag', () => {
    const bare = operations.filter(({ operation }) => (operation.summary ?? '') === '' || operation.tags === undefined);
    expect(bare.map(({ name }) => name)).toEqual([]);
  });

  it('gives every operation a unique name', () => {
    const ids = operations.map(({ operation }) => operation.operationId).filter((id) => id !== undefined);
    expect(ids.length).toBe(new Set(ids).size);
  });
});
