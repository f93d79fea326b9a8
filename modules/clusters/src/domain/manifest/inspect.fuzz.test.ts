import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import { inspectManifest, MANIFEST_LIMITS } from './inspect.ts';

const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';

describeFuzz({
  name: 'the inspection of manifests',
  corpus: new URL('./corpus/inspect/', import.meta.url),
  seeds: [
    map,
    `${map}---\n${map}`,
    'apiVersion: v1\nkind: List\nitems: [{}]\n',
    'a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n',
    '? {a: 1}\n: b\n<<: {kind: X}\n',
    '{"apiVersion":"v1","kind":"X","metadata":{"name":"a"}}',
  ],
  dictionary: ['---\n', '&a ', '*a', '<<: ', '? ', ': ', '- ', '!!set ', '%TAG ! x', '{', '[', '|\n', '\t', '\ud800'],
  run: (input) => {
    const finding = inspectManifest(input.toString('utf8'));
    if (finding.ok) {
      expect(finding.documents).toBeGreaterThan(0);
      expect(finding.documents).toBeLessThanOrEqual(MANIFEST_LIMITS.documents);
    } else expect(finding.reason.length).toBeGreaterThan(5);
  },
});
