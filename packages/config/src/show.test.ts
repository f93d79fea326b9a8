import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { configJsonSchema, configReference } from './json-schema.ts';
import { loadConfig } from './load.ts';
import { redactConfig } from './redact.ts';
import { renderConfig, shownKeys } from './show.ts';

const schema = Type.Object({
  name: Type.String({ description: 'What it is called' }),
  svc: Type.Object({
    token: Type.String({ secret: true, env: 'SVC_TOKEN' }),
    timeout: Type.String({ default: '30s' }),
  }),
  issuers: Type.Array(Type.Object({ url: Type.String(), client_secret: Type.String({ secret: true }) }), {
    default: [],
  }),
});
const yaml = 'name: prod\nissuers:\n  - url: https://id.example.org\n    client_secret: hunter2\n';
const loaded = loadConfig({
  schema,
  files: ['/etc/svc/config.yaml'],
  environment: { SVC_TOKEN: 'svc_agt_secret' },
  readTextFile: () => yaml,
});

describe('showConfig', () => {
  it('renders YAML with the origin of each value and without secrets', () => {
    expect(renderConfig(loaded)).toBe(
      [
        'name: prod # /etc/svc/config.yaml:1:7',
        'svc:',
        '  token: "***REDACTED***" # SVC_TOKEN',
        '  timeout: 30s',
        'issuers:',
        '  # /etc/svc/config.yaml:3:3',
        '  - url: https://id.example.org',
        '    client_secret: "***REDACTED***"',
        '',
      ].join('\n'),
    );
  });

  it('lists every key for programs, with secrets redacted even inside lists', () => {
    const rows = shownKeys(loaded);
    expect(rows.map((row) => [row.path, row.value])).toEqual([
      ['name', 'prod'],
      ['svc.token', '***REDACTED***'],
      ['svc.timeout', '30s'],
      ['issuers', [{ url: 'https://id.example.org', client_secret: '***REDACTED***' }]],
    ]);
    expect(JSON.stringify(rows)).not.toContain('hunter2');
  });

  it('redacts a copy and leaves the configuration unchanged', () => {
    expect(redactConfig(schema, loaded.value)).toMatchObject({ svc: { token: '***REDACTED***', timeout: '30s' } });
    expect(loaded.value.svc.token).toBe('svc_agt_secret');
  });
});

describe('configJsonSchema', () => {
  it('closes every object, requires only keys without a default, and marks secrets write-only', () => {
    const json = configJsonSchema(schema, { title: 'svc' });
    expect(json).toMatchObject({
      title: 'svc',
      type: 'object',
      additionalProperties: false,
      required: ['name', 'svc'],
      properties: {
        svc: { additionalProperties: false, required: ['token'], properties: { token: { writeOnly: true } } },
        issuers: { items: { additionalProperties: false, required: ['url', 'client_secret'] } },
      },
    });
    expect(JSON.stringify(json)).not.toContain('"env"');
  });
});

describe('configReference', () => {
  it('lists every key with its variables and default', () => {
    expect(configReference(schema, 'SVC')[1]).toEqual({
      path: 'svc.token',
      description: '',
      default: null,
      environmentNames: ['SVC_TOKEN', 'SVC_SVC_TOKEN'],
      secret: true,
      required: true,
    });
  });
});
