import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderSchema, renderTypes, type OpenApiDocument } from '../scripts/render-types.ts';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

describe('the generated types', () => {
  it('are what api/openapi.json says; ./svc openapi writes both anew', () => {
    const document = JSON.parse(read('../../../api/openapi.json')) as OpenApiDocument; // a file of this repository
    expect(read('./generated/api.ts')).toBe(renderTypes(document));
  });

  it('know what may be absent, what may be null, and what a name may be', () => {
    const type = renderSchema({
      type: 'object',
      properties: {
        name: { type: 'string', description: 'A name.' },
        mode: { anyOf: [{ type: 'string', enum: ['on'] }, { const: 'off' }, { type: 'null' }] },
        tags: { type: 'object', patternProperties: { '^.*$': { type: 'string' } } },
        sizes: { type: 'array', items: { type: ['integer', 'null'] } },
      },
      required: ['name'],
    });
    expect(type).toBe(
      [
        '{',
        '  /** A name. */',
        '  "name": string;',
        '  "mode"?: undefined | "on" | "off" | null;',
        '  "tags"?: undefined | Record<string, string>;',
        '  "sizes"?: undefined | (number | null)[];',
        '}',
      ].join('\n'),
    );
  });
});
