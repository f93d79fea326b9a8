import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAppError } from '@svc/errors';
import { createAgentMessageDecoder, createPlatformMessageDecoder } from './decode.ts';
import { agentPayloadSchemas, platformPayloadSchemas } from './messages.ts';

const fromAgent = createAgentMessageDecoder();
const fromPlatform = createPlatformMessageDecoder();

function frame(type: string, payload: unknown): string {
  return JSON.stringify({ type, id: 'cmd-001', timestamp: '2026-11-21T09:30:00.000Z', payload });
}

/** The contract's six payloads with the contract's fields only, as older peers send them. */
const contractFrames = {
  agent: {
    heartbeat: { status: 'healthy', metrics: { cpu_usage: 0.25, memory_usage: 0.35, active_pods: 12 } },
    cluster_status: { nodes: 3, pods: 12, services: 5, health: 'healthy' },
    event: {
      event_type: 'pod_created',
      namespace: 'default',
      resource: 'pod/web-1',
      details: { image: 'nginx:1', node: 'node-1' },
    },
  },
  platform: {
    deploy: { project_id: 'proj-1', manifest: 'apiVersion: v1\nkind: ConfigMap\n', namespace: 'default' },
    exec: { pod: 'web-1', namespace: 'default', container: 'web', command: ['ls', '-l'] },
    logs: { pod: 'web-1', namespace: 'default', container: 'web', tail_lines: 100, follow: false },
  },
};

describe('payloads', () => {
  it.each(Object.entries(contractFrames.agent))(
    'of an agent that knows only the contract are read: %s',
    (type, body) => {
      const decoded = fromAgent.decode(frame(type, body));
      expect(decoded).toMatchObject({ known: true, message: { type, payload: body } });
    },
  );

  it.each(Object.entries(contractFrames.platform))(
    'of a platform that knows only the contract are read: %s',
    (type, body) => {
      expect(fromPlatform.decode(frame(type, body))).toMatchObject({ known: true, message: { type, payload: body } });
    },
  );

  it('may carry fields that this version does not know', () => {
    const payload = { ...contractFrames.agent.cluster_status, colour: 'blue' };
    expect(fromAgent.decode(frame('cluster_status', payload)).known).toBe(true);
  });

  it('of an unknown type are handed back, also when the type is a name of Object.prototype', () => {
    for (const type of ['gossip', 'constructor', '__proto__', 'toString', 'deploy']) {
      expect(fromAgent.decode(frame(type, {}))).toMatchObject({ known: false, envelope: { type } });
    }
  });

  it.each([
    ['exec', { pod: 'web', namespace: 'default', command: 'ls' }, 'payload.command'],
    ['exec', { pod: 'web', namespace: 'default', command: [] }, 'payload.command'],
    ['deploy', { project_id: 'p', manifest: 'x' }, 'payload'],
    ['deploy', { project_id: '../p', manifest: 'x', namespace: 'default' }, 'payload.project_id'],
    ['deploy', { project_id: 'p', manifest: 'x', namespace: 'No Such' }, 'payload.namespace'],
    ['logs', { pod: 'web', namespace: 'default', tail_lines: -1 }, 'payload.tail_lines'],
    ['resize', { command_id: 'cmd-1', rows: 0, cols: 80 }, 'payload.rows'],
  ])('that break the schema are refused with the path: %s %j', (type, payload, field) => {
    try {
      fromPlatform.decode(frame(type, payload));
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: 'INVALID_PAYLOAD', status: 400, details: { type, field } });
    }
  });

  it.each([
    ['event', { ...contractFrames.agent.event, resource: 'pod/a\u0000' }, 'payload.resource'],
    ['heartbeat', { ...contractFrames.agent.heartbeat, status: '\u0000' }, 'payload.status'],
    ['cluster_status', { ...contractFrames.agent.cluster_status, health: 'a\u0000b' }, 'payload.health'],
  ])('with a NUL where no column takes one are refused with the path: %s', (type, payload, field) => {
    expect(() => fromAgent.decode(frame(type, payload))).toThrow(field);
  });

  it('of any shape give a message or a catalogue error, never another failure', () => {
    const types = [...Object.keys(agentPayloadSchemas), ...Object.keys(platformPayloadSchemas)];
    const bodies = Object.values({ ...contractFrames.agent, ...contractFrames.platform });
    const mutated = fc
      .tuple(fc.constantFrom(...bodies), fc.dictionary(fc.string(), fc.jsonValue()))
      .map(([body, extra]) => ({ ...body, ...extra }));
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.oneof(fc.jsonValue(), mutated), (type, payload) => {
        for (const decoder of [fromAgent, fromPlatform]) {
          try {
            decoder.decode(frame(type, payload));
          } catch (error) {
            expect(isAppError(error)).toBe(true);
          }
        }
      }),
      { numRuns: 2000 },
    );
  });
});
