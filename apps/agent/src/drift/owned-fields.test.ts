import { describe, expect, it } from 'vitest';
import { lastManager, lostFields, ownedFields } from './owned-fields.ts';

const FIELDS = {
  'f:metadata': { 'f:labels': { 'f:app': {} } },
  'f:spec': {
    'f:replicas': {},
    'f:template': { 'f:containers': { 'k:{"name":"main"}': { '.': {}, 'f:image': {}, 'f:name': {} } } },
    'f:finalizers': { 'v:"svc.dev/keep"': {} },
  },
};

function metadata(managers: readonly object[]) {
  return { name: 'web', managedFields: managers as [] };
}

describe('owned fields', () => {
  it('are those of our own applies, not of our updates or of a subresource', () => {
    const entry = { manager: 'svc-agent', operation: 'Apply', fieldsV1: FIELDS };
    const managers = [
      { ...entry, fieldsV1: {}, subresource: 'status' },
      { ...entry, operation: 'Update', fieldsV1: {} },
      { ...entry, manager: 'svc-agent-replicas', fieldsV1: {} },
      entry,
    ];
    expect(ownedFields(metadata(managers), 'svc-agent')).toBe(FIELDS);
    expect(ownedFields({ name: 'web' }, 'svc-agent')).toEqual({});
  });

  it('are reported individually when lost', () => {
    const now = {
      'f:metadata': { 'f:labels': { 'f:app': {} } },
      'f:spec': { 'f:template': { 'f:containers': { 'k:{"name":"main"}': { '.': {}, 'f:name': {} } } } },
    };
    expect(lostFields(FIELDS, FIELDS)).toEqual([]);
    expect(lostFields(FIELDS, { ...FIELDS, 'f:data': { 'f:more': {} } })).toEqual([]);
    expect(lostFields(FIELDS, now)).toEqual([
      '.spec.finalizers["svc.dev/keep"]',
      '.spec.replicas',
      '.spec.template.containers[name=main].image',
    ]);
    expect(lostFields(FIELDS, {})).toHaveLength(5);
  });

  it('are attributed to the last other writer when lost', () => {
    const managers = [
      { manager: 'kubectl-edit', operation: 'Update', time: '2026-01-02T00:00:00Z' },
      { manager: 'helm', operation: 'Update', time: '2026-01-01T00:00:00Z' },
      { manager: 'kubelet', operation: 'Update', subresource: 'status', time: '2026-01-04T00:00:00Z' },
      { manager: 'svc-agent', operation: 'Apply', time: '2026-01-03T00:00:00Z' },
    ];
    expect(lastManager(metadata(managers), 'svc-agent')).toBe('kubectl-edit');
    expect(lastManager({ name: 'web' }, 'svc-agent')).toBe('');
  });
});
