import { describe, expect, it } from 'vitest';
import { loadPlatformConfig } from './load-config.ts';

const load = (environment: Record<string, string>) => loadPlatformConfig({ environment, flags: [] }).value;
const OBJECTS = 'SVC_OBJECT_STORE_PUBLIC_OBJECTS_DOMAIN';

describe('the domain of public objects', () => {
  it.each([
    [
      'the host of the console',
      { SVC_PUBLIC_URL: 'https://svc.example.com', [OBJECTS]: 'svc.example.com' },
      'public_url',
    ],
    ['a parent of it', { SVC_PUBLIC_URL: 'https://svc.example.com:8443', [OBJECTS]: 'example.com' }, 'public_url'],
    ['a name below it', { SVC_PUBLIC_URL: 'https://svc.example.com', [OBJECTS]: 'o.svc.example.com' }, 'public_url'],
    ['the address that listeners open', { SVC_HOST: 'node.example.com', [OBJECTS]: 'node.example.com' }, 'host'],
    ['the domain of previews', { [OBJECTS]: 'sandboxes.localhost' }, 'sandboxes.preview_domain'],
    ['a name below that', { [OBJECTS]: 'objects.sandboxes.localhost' }, 'sandboxes.preview_domain'],
    ['a parent of that', { SVC_SANDBOXES_PREVIEW_DOMAIN: 'p.objects.localhost' }, 'sandboxes.preview_domain'],
    ['a host of S3', { [OBJECTS]: 's3.localhost' }, 'object_store.domains'],
    ['a name below a host of websites', { [OBJECTS]: 'objects.web.localhost' }, 'object_store.website_domains'],
    [
      'the host that S3 clients reach',
      { SVC_S3_PUBLIC_URL: 'https://objects.example.net', [OBJECTS]: 'objects.example.net' },
      's3_public_url',
    ],
    [
      'the target of custom domains',
      { SVC_OBJECT_STORE_CUSTOM_DOMAINS_CNAME_DOMAIN: 'cname.objects.example.net', [OBJECTS]: 'objects.example.net' },
      'object_store.custom_domains.cname_domain',
    ],
    [
      'a parent of the domain of tunnels',
      { SVC_CLUSTERS_TUNNEL_DOMAIN: 't.example.net', [OBJECTS]: 'example.net' },
      'clusters.tunnel.domain',
    ],
  ])('is refused as %s, with both keys and what to do', (_what, environment, other) => {
    for (const part of ['object_store.public_objects.domain', `${other} (`, 'choose a separate domain']) {
      expect(() => load(environment)).toThrow(part);
    }
  });

  it.each([
    ['as it is by default', {}],
    ['a domain of its own', { SVC_PUBLIC_URL: 'https://svc.example.com', [OBJECTS]: 'objects.example-content.net' }],
    ['a sibling of the console', { SVC_PUBLIC_URL: 'https://svc.example.com', [OBJECTS]: 'objects.example.com' }],
    ['empty', { SVC_PUBLIC_URL: 'https://svc.example.com', [OBJECTS]: '' }],
    ['the console’s, where there is no object store', { SVC_SERVICES: 'clusters', [OBJECTS]: 's3.localhost' }],
    ['below localhost, where the console is', { SVC_HOST: 'localhost', [OBJECTS]: 'objects.localhost' }],
  ])('is taken: %s', (_what, environment) => {
    expect(() => load(environment)).not.toThrow();
  });

  it('is not alone: previews do not take the console’s place either', () => {
    const environment = { SVC_PUBLIC_URL: 'https://svc.example.com', SVC_SANDBOXES_PREVIEW_DOMAIN: 'example.com' };
    expect(() => load(environment)).toThrow(/sandboxes\.preview_domain is a parent of the host of public_url/);
  });
});
