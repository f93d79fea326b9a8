import { describe, expect, it } from 'vitest';
import { EMPTY_DRAFT, validateDraft, isReady, toNewDeployment } from './deploy-draft.ts';

const draft = { ...EMPTY_DRAFT, project: 'shop', manifest: 'kind: ConfigMap' };

describe('the deployment form', () => {
  it('requires a project, a namespace and a manifest', () => {
    expect(validateDraft(EMPTY_DRAFT)).toEqual({});
    expect([EMPTY_DRAFT, draft, { ...draft, namespace: '' }, { ...draft, manifest: ' \n' }].map(isReady)).toEqual([
      false,
      true,
      false,
      false,
    ]);
  });

  it('names each invalid field', () => {
    const wrong = { ...draft, project: 'my shop', namespace: 'Shop', timeout: '0', manifest: 'ä'.repeat(461_000) };
    expect(Object.keys(validateDraft(wrong)).toSorted()).toEqual(['manifest', 'namespace', 'project', 'timeout']);
    expect(isReady(wrong)).toBe(false);
  });

  it('becomes a request', () => {
    expect(toNewDeployment({ ...draft, prune: false }, true)).toEqual({
      project_id: 'shop',
      namespace: 'default',
      manifest: 'kind: ConfigMap',
      dry_run: true,
      prune: false,
      wait: true,
      force_conflicts: false,
      timeout_seconds: 300,
    });
  });
});
