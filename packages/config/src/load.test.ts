import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { ConfigError, type ConfigFault } from './fault.ts';
import { loadConfig, type LoadConfigOptions } from './load.ts';

const schema = Type.Object({
  services: Type.Array(Type.Union([Type.Literal('clusters'), Type.Literal('sandboxes')]), { default: ['clusters'] }),
  http: Type.Object({
    port: Type.Integer({ default: 4000, minimum: 0, maximum: 65_535 }),
    host: Type.String({ default: '127.0.0.1' }),
  }),
  sandboxes: Type.Object({ max_per_caller: Type.Integer({ default: 20, env: 'SVC_LIMIT' }) }),
  owner: Type.Object({ password: Type.Optional(Type.String({ secret: true, minLength: 8 })) }),
  tls: Type.Optional(Type.Object({ certificate: Type.String(), versions: Type.Integer({ default: 3 }) })),
  labels: Type.Record(Type.String(), Type.String(), { default: {} }),
  forwards: Type.Array(Type.Object({ name: Type.String(), retries: Type.Integer({ default: 2 }) }), { default: [] }),
});

function load(options: Partial<LoadConfigOptions<typeof schema>> & { yaml?: string } = {}) {
  const { yaml, ...rest } = options;
  const readTextFile = (path: string): string => {
    if (path === 'svc.yaml' && yaml !== undefined) return yaml;
    if (path === '/run/secrets/password') return 'correct horse\n';
    throw new Error(`ENOENT: no such file ${path}`);
  };
  const files = yaml === undefined ? [] : ['svc.yaml'];
  return loadConfig({ schema, environmentPrefix: 'SVC', files, readTextFile, ...rest });
}

function catchFaults(run: () => unknown): readonly ConfigFault[] {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  throw new Error('expected a ConfigError');
}

describe('loadConfig', () => {
  it('returns the defaults if no source sets anything', () => {
    expect(load().value).toEqual({
      services: ['clusters'],
      http: { port: 4000, host: '127.0.0.1' },
      sandboxes: { max_per_caller: 20 },
      owner: {},
      labels: {},
      forwards: [],
    });
  });

  it('gives flags precedence over the environment, the environment over YAML, and YAML over defaults', () => {
    const yaml = 'http:\n  port: 1\n  host: "::1"\nsandboxes:\n  max_per_caller: 1';
    const environment = { SVC_HTTP_PORT: '2', SVC_SANDBOXES_MAX_PER_CALLER: '2' };
    const flags = [{ flag: '--port', path: 'http.port', value: '3' }];
    const { value, origins } = load({ yaml, environment, flags });
    expect(value.http).toEqual({ port: 3, host: '::1' });
    expect(value.sandboxes.max_per_caller).toBe(2);
    expect(origins.get('http.port')).toEqual({ source: 'flag', where: '--port' });
    expect(origins.get('http.host')).toEqual({ source: 'yaml', where: 'svc.yaml:3:9' });
    expect(origins.get('sandboxes.max_per_caller')?.where).toBe('SVC_SANDBOXES_MAX_PER_CALLER');
    expect(origins.get('services')?.source).toBe('default');
  });

  it('prefers the explicit name of a variable, and warns when both are set', () => {
    const { value, warnings } = load({ environment: { SVC_LIMIT: '5', SVC_SANDBOXES_MAX_PER_CALLER: '6' } });
    expect(value.sandboxes.max_per_caller).toBe(5);
    expect(warnings).toEqual(['SVC_SANDBOXES_MAX_PER_CALLER is not used, since SVC_LIMIT is set as well']);
  });

  it('reports every fault of every source at once, with its path and origin', () => {
    const yaml = 'htpp:\n  port: 1\nhttp:\n  prot: 2\n  host: 7\nservices: [clusters, ovens]';
    const environment = { SVC_HTTP_PORT: 'many' };
    const flags = [{ flag: '--limit', path: 'sandboxes.max_per_caller', value: 1.5 }];
    expect(catchFaults(() => load({ yaml, environment, flags }))).toEqual([
      {
        path: 'htpp',
        message: 'is not a known key; did you mean http?',
        origin: { source: 'yaml', where: 'svc.yaml:1:1' },
      },
      {
        path: 'http.prot',
        message: 'is not a known key; did you mean http.port?',
        origin: { source: 'yaml', where: 'svc.yaml:4:3' },
      },
      {
        path: 'http.port',
        message: 'must be a number',
        origin: { source: 'environment', where: 'SVC_HTTP_PORT' },
      },
      {
        path: 'services.1',
        message: 'must be one of clusters, sandboxes but is "ovens"',
        origin: { source: 'yaml', where: 'svc.yaml:6:11' },
      },
      { path: 'http.host', message: 'must be text but is 7', origin: { source: 'yaml', where: 'svc.yaml:5:9' } },
      {
        path: 'sandboxes.max_per_caller',
        message: 'must be an integer but is 1.5',
        origin: { source: 'flag', where: '--limit' },
      },
    ]);
  });

  it('says in its message what to fix', () => {
    expect(() => load({ yaml: 'http: {port: 70000}' })).toThrow(
      'The configuration has a fault:\n  http.port must be <= 65535 but is 70000 (svc.yaml:1:14)',
    );
  });

  it('suggests the section to which a misplaced key belongs', () => {
    expect(catchFaults(() => load({ yaml: 'max_per_caller: 4' }))[0]?.message).toBe(
      'is not a known key; did you mean sandboxes.max_per_caller?',
    );
  });

  it('never includes the value of an invalid secret', () => {
    const faults = catchFaults(() => load({ environment: { SVC_OWNER_PASSWORD: 'short' } }));
    expect(faults).toHaveLength(1);
    expect(JSON.stringify(faults)).not.toContain('short');
  });

  it('reads a secret from the file named by its _FILE variable, without the trailing line break', () => {
    const { value, origins } = load({ environment: { SVC_OWNER_PASSWORD_FILE: '/run/secrets/password' } });
    expect(value.owner.password).toBe('correct horse');
    expect(origins.get('owner.password')?.source).toBe('file');
  });

  it('rejects a secret that is set both directly and by file, and one whose file is missing', () => {
    const both = { SVC_OWNER_PASSWORD: 'correct horse', SVC_OWNER_PASSWORD_FILE: '/run/secrets/password' };
    expect(catchFaults(() => load({ environment: both }))[0]?.message).toBe(
      'is given twice, by SVC_OWNER_PASSWORD and SVC_OWNER_PASSWORD_FILE',
    );
    expect(catchFaults(() => load({ environment: { SVC_OWNER_PASSWORD_FILE: '/absent' } }))[0]?.message).toMatch(
      /ENOENT/,
    );
  });

  it('does not read files for keys that are not secret', () => {
    expect(load({ environment: { SVC_HTTP_HOST_FILE: '/run/secrets/password' } }).value.http.host).toBe('127.0.0.1');
  });

  it('treats an empty variable and an empty YAML key as unset', () => {
    const { value } = load({ yaml: 'http:\n  port:\nsandboxes:\n', environment: { SVC_HTTP_HOST: '' } });
    expect(value.http).toEqual({ port: 4000, host: '127.0.0.1' });
  });

  it('creates an optional section only if a source sets one of its keys', () => {
    expect(load().value.tls).toBeUndefined();
    expect(load({ yaml: 'tls: {certificate: a.pem}' }).value.tls).toEqual({ certificate: 'a.pem', versions: 3 });
    expect(catchFaults(() => load({ environment: { SVC_TLS_VERSIONS: '2' } }))).toEqual([
      {
        path: 'tls.certificate',
        message: 'is required; set it in the file or by SVC_TLS_CERTIFICATE',
        origin: null,
      },
    ]);
  });

  it('parses lists and maps in variables, with commas or as JSON', () => {
    const environment = {
      SVC_SERVICES: 'clusters, sandboxes',
      SVC_LABELS: 'zone=a,team=b=c',
      SVC_FORWARDS: '[{"name":"grafana"}]',
    };
    const { value } = load({ environment });
    expect(value.services).toEqual(['clusters', 'sandboxes']);
    expect(value.labels).toEqual({ zone: 'a', team: 'b=c' });
    expect(value.forwards).toEqual([{ name: 'grafana', retries: 2 }]);
  });

  it('rejects unknown and missing keys inside list items', () => {
    expect(
      catchFaults(() => load({ yaml: 'forwards: [{nmae: a}]' })).map(({ path, message }) => `${path} ${message}`),
    ).toEqual(['forwards.0.name is required', 'forwards.0.nmae is not a known key; did you mean forwards.0.name?']);
  });

  it('rejects a scalar in place of a section, and invalid YAML, with the line', () => {
    expect(catchFaults(() => load({ yaml: 'http: 4000' }))[0]).toMatchObject({
      path: 'http',
      message: 'must be a section with keys',
    });
    expect(catchFaults(() => load({ yaml: 'http:\n  port: 1\n  port: 2' }))[0]?.origin?.where).toBe('svc.yaml:3:3');
    expect(catchFaults(() => load({ yaml: 'labels: &a {x: y}\nforwards: *a' }))[0]?.message).toMatch(/aliases/);
  });

  it('names a file that it cannot read', () => {
    expect(catchFaults(() => load({ files: ['/absent.yaml'] }))[0]?.message).toMatch(/cannot be read: ENOENT/);
  });

  it('checks rules across keys only if each key is valid, and reports their origin', () => {
    const check = (config: { http: { port: number } }) =>
      config.http.port === 9 ? [{ path: 'http.port', message: 'must differ from the S3 port' }] : [];
    expect(catchFaults(() => load({ check, environment: { SVC_HTTP_PORT: '9' } }))).toEqual([
      {
        path: 'http.port',
        message: 'must differ from the S3 port',
        origin: { source: 'environment', where: 'SVC_HTTP_PORT' },
      },
    ]);
  });

  it('warns about variables that look mistyped, and ignores those of Kubernetes', () => {
    const environment = { SVC_HTTP_PROT: '1', SVC_PORT_4000_TCP: 'tcp://10.0.0.1:4000', SVC_SERVICE_HOST: '10.0.0.1' };
    expect(load({ environment }).warnings).toEqual([
      'SVC_HTTP_PROT is not a known variable; did you mean SVC_HTTP_PORT?',
    ]);
  });

  it('returns a frozen configuration', () => {
    const { value } = load();
    expect(() => value.services.push('sandboxes')).toThrow(TypeError);
  });

  it('does not touch object prototypes through YAML keys', () => {
    expect(
      catchFaults(() => load({ yaml: '__proto__: {polluted: 1}\nconstructor: 1' })).map((fault) => fault.path),
    ).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('rejects a schema in which two keys share a variable', () => {
    const clashing = Type.Object({
      a_b: Type.Integer({ default: 1 }),
      a: Type.Object({ b: Type.Integer({ default: 1 }) }),
    });
    expect(() => loadConfig({ schema: clashing, environmentPrefix: 'SVC' })).toThrow(/both take .* SVC_A_B/);
  });

  it('derives no variable names without a prefix', () => {
    const agent = Type.Object({ agent: Type.Object({ cluster_name: Type.String({ env: 'CLUSTER_NAME' }) }) });
    const environment = { CLUSTER_NAME: 'prod', AGENT_CLUSTER_NAME: 'x' };
    expect(loadConfig({ schema: agent, environment }).value).toEqual({ agent: { cluster_name: 'prod' } });
  });
});
