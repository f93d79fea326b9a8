import { describe, expect, it } from 'vitest';
import { EMPTY_DRAFT, validateDraft, toNewSandbox } from './sandbox-draft.ts';

const draft = { ...EMPTY_DRAFT, image: 'debian' };

describe('the form for a new sandbox', () => {
  it('requires nothing but the image', () => {
    expect(validateDraft(draft)).toEqual({});
    expect(toNewSandbox(draft)).toEqual({ image: 'debian' });
  });

  it('parses variables like a .env file', () => {
    const environment = '# a note\nexport TOKEN="a=b"\n\nEMPTY=\nNAME = two words ';
    expect(toNewSandbox({ ...draft, environment }).environment).toEqual({
      TOKEN: 'a=b',
      EMPTY: '',
      NAME: 'two words',
    });
  });

  it('names the invalid line', () => {
    expect(validateDraft({ ...draft, environment: 'A=1\n2B=3' }).environment).toBe('2B is not a valid name.');
    expect(validateDraft({ ...draft, labels: 'team' }).labels).toBe('team has no value. Use KEY=value.');
    expect(validateDraft({ ...draft, egressAllow: 'example.com\nhttps://x' }).egressAllow).toBe(
      'https://x is not a valid hostname.',
    );
    expect(validateDraft({ ...draft, name: 'My Box' }).name).toMatch(/letters/);
    expect(validateDraft({ ...draft, cpu: '-1' }).cpu).toBe('Enter a number above 0.');
  });

  it('sends hosts only if the network can be limited', () => {
    const egressAllow = 'example.com, *.example.org';
    expect(toNewSandbox({ ...draft, egressAllow, network: 'egress' }).egress_allow).toEqual([
      'example.com',
      '*.example.org',
    ]);
    expect(toNewSandbox({ ...draft, egressAllow, network: 'none' }).egress_allow).toBeUndefined();
  });

  it('mounts volumes to write or read-only', () => {
    const volumes = 'data:/data\nmodels:/srv/models:ro';
    expect(toNewSandbox({ ...draft, volumes }).volumes).toEqual([
      { name: 'data', path: '/data', read_only: false },
      { name: 'models', path: '/srv/models', read_only: true },
    ]);
    expect(validateDraft({ ...draft, volumes }).volumes).toBeUndefined();
    for (const wrong of ['data', 'data:data', 'data:/data:rx']) {
      expect(validateDraft({ ...draft, volumes: wrong }).volumes).toContain(`${wrong} is not a volume`);
    }
  });

  it('runs in a cluster if one is chosen', () => {
    expect(toNewSandbox({ ...draft, cluster: 'home' })).toEqual({ image: 'debian', cluster: 'home' });
  });

  it('mounts buckets, or folders of them, to write or read-only', () => {
    const mounts = 'photos:/data\nmodels/llama/7b:/models:ro';
    expect(toNewSandbox({ ...draft, mounts }).mounts).toEqual([
      { bucket: 'photos', path: '/data', read_only: false },
      { bucket: 'models', prefix: 'llama/7b', path: '/models', read_only: true },
    ]);
    expect(validateDraft({ ...draft, mounts }).mounts).toBeUndefined();
    for (const wrong of ['photos', 'photos:data', 'Photos:/data', 'photos:/data:rw']) {
      expect(validateDraft({ ...draft, mounts: wrong }).mounts).toContain(`${wrong} is not a bucket`);
    }
  });

  it('omits empty fields', () => {
    expect(toNewSandbox({ ...draft, memoryMb: '1024', idleSeconds: '600' })).toEqual({
      image: 'debian',
      resources: { memory_mb: 1024 },
      idle_timeout_seconds: 600,
    });
  });
});
