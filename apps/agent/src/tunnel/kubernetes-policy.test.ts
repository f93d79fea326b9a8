import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { explainRefusal } from './kubernetes-policy.ts';

type Rules = Parameters<typeof explainRefusal>[2];

function rules(policy: Partial<Rules['policy']> = {}): Rules {
  return {
    policy: { read_only: false, exec: true, logs: true, namespaces: ['*'], ...policy },
    tunnel: {
      enabled: true,
      forwards: [],
      kubernetes: { enabled: true, identity: 'agent', read_only_roles: ['guest'] },
    },
  };
}

/** The part of a request that a decision needs. */
const asked = (method: string, url: string) => ({ method, url, headers: {} }) as IncomingMessage;
const verdict = (method: string, url: string, role = 'member', policy: Partial<Rules['policy']> = {}) =>
  explainRefusal(asked(method, url), role, rules(policy));

const POD = '/api/v1/namespaces/shop/pods/web';

describe('the policy for the API server', () => {
  it('allows a member everything by default', () => {
    for (const [method, url] of [
      ['GET', '/api/v1/pods?watch=true'],
      ['POST', `${POD}/exec?command=sh`],
      ['DELETE', '/apis/apps/v1/namespaces/shop/deployments/web'],
      ['GET', '/'],
      ['GET', '/openapi/v3'],
    ] as const) {
      expect(verdict(method, url)).toBeNull();
    }
  });

  it.each([
    ['POST', '/api/v1/namespaces/shop/pods'],
    ['DELETE', POD],
    ['GET', `${POD}/exec?command=sh`],
    ['GET', `${POD}/ex%65c?command=sh`],
    ['GET', `${POD}/attach`],
    ['GET', `${POD}/portforward`],
    ['GET', `${POD}/proxy/admin`],
    ['GET', '/api/v1/nodes/n1/proxy/run/shop/web/main?cmd=id'],
    ['GET', '/api/v1/proxy/namespaces/shop/services/web'],
  ])('refuses %s %s to a read-only role, and to every role if the policy is read-only', (method, url) => {
    expect(verdict(method, url, 'guest')).toContain('may only read');
    expect(verdict(method, url, 'owner', { read_only: true })).toContain('read-only');
  });

  it('allows reads to a read-only role', () => {
    for (const url of [POD, `${POD}/log?follow=true`, '/apis', '/version'])
      expect(verdict('GET', url, 'guest')).toBeNull();
  });

  it('forbids shells and logs to every role if configured', () => {
    expect(verdict('GET', `${POD}/exec`, 'owner', { exec: false })).toContain('exec is forbidden');
    expect(verdict('PATCH', `${POD}/ephemeralcontainers`, 'owner', { exec: false })).toContain('forbidden');
    expect(verdict('GET', `${POD}/log`, 'owner', { logs: false })).toContain('logs are forbidden');
    expect(verdict('GET', '/logs/syslog', 'owner', { namespaces: ['shop'] })).toContain('single namespaces');
  });

  it.each([
    '/logs',
    '/logs/',
    '/logs/kube-apiserver.log',
    '/%6cogs/kube-apiserver.log',
    `${POD}/log?follow=true`,
    '/api/v1/nodes/n1/proxy/logs/syslog',
    '/api/v1/nodes/n1/proxy/logs/?query=kubelet',
    '/api/v1/nodes/https:n1:10250/proxy/containerLogs/shop/web/main',
    '/api/v1/nodes/n1/proxy/', // the kubelet interprets such paths itself
    '/api/v1/proxy/nodes/n1/logs/syslog',
  ])('forbids logs by %s if configured', (url) => {
    for (const method of ['GET', 'HEAD', 'POST']) {
      expect(verdict(method, url, 'owner', { logs: false })).toContain('logs are forbidden');
      expect(verdict(method, url, 'owner')).toBeNull();
    }
  });

  it('allows paths that only contain "logs" in a name, even if logs are forbidden', () => {
    for (const url of [
      '/api/v1/namespaces/logs/pods',
      '/api/v1/namespaces/shop/configmaps/log',
      '/api/v1/nodes/logs',
      '/debug/pprof/',
    ]) {
      expect(verdict('GET', url, 'owner', { logs: false })).toBeNull();
    }
  });

  it('allows only the configured namespaces and discovery', () => {
    const policy = { namespaces: ['shop'] };
    expect(verdict('GET', POD, 'owner', policy)).toBeNull();
    expect(verdict('GET', '/apis/apps/v1', 'owner', policy)).toBeNull();
    expect(verdict('GET', '/api/v1/namespaces/kube-system/secrets', 'owner', policy)).toContain('kube-system');
    expect(verdict('GET', '/api/v1/watch/namespaces/kube-system/secrets', 'owner', policy)).toContain('kube-system');
    for (const url of ['/api/v1/secrets', '/api/v1/nodes', '/api/v1/namespaces']) {
      expect(verdict('GET', url, 'owner', policy)).toContain('single namespaces');
    }
  });

  it.each([
    '/api/v1/namespaces/shop/../kube-system/secrets',
    '/api//v1/pods',
    '/api/v1/%2e%2e/x',
    '/api/%',
    '/api/a%2fb',
  ])('refuses a path that two parsers could interpret differently: %s', (url) =>
    expect(verdict('GET', url)).toBe('the path is not in canonical form'),
  );
});
