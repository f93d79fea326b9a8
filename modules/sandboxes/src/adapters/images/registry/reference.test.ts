import { describe, expect, it } from 'vitest';
import { formatReference, parseReference } from './reference.ts';

const HEX = 'a'.repeat(64);

describe('parseReference', () => {
  it.each([
    ['debian', 'docker.io/library/debian:latest'],
    ['debian:12', 'docker.io/library/debian:12'],
    ['team/app', 'docker.io/team/app:latest'],
    ['docker.io/library/alpine:3', 'docker.io/library/alpine:3'],
    ['docker.io/alpine', 'docker.io/library/alpine:latest'],
    ['localhost/app', 'localhost/app:latest'],
    ['127.0.0.1:5000/a/b-c.d:v1', '127.0.0.1:5000/a/b-c.d:v1'],
    ['[::1]:5000/app', '[::1]:5000/app:latest'],
    [`registry.example/app@sha256:${HEX}`, `registry.example/app@sha256:${HEX}`],
    [`registry.example/app:1@sha256:${HEX}`, `registry.example/app:1@sha256:${HEX}`],
  ])('parses %s as %s', (text, whole) => {
    const reference = parseReference(text);
    expect(reference === null ? null : formatReference(reference)).toBe(whole);
  });

  it.each([
    '',
    ':1',
    'Debian',
    'a//b',
    'registry.example/',
    'registry.example/../x',
    'app:',
    'app:tag with blank',
    `app@sha256:${HEX.slice(1)}`,
    `app@md5:${HEX}`,
    `app@sha256:${HEX}@sha256:${HEX}`,
    'user:password@registry.example/app',
    'http://registry.example/app',
    'registry.example:99999999/app',
    `app:${'t'.repeat(129)}`,
    'a'.repeat(600),
  ])('refuses %j', (text) => {
    expect(parseReference(text)).toBeNull();
  });
});
