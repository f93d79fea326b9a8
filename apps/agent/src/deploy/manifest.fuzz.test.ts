import { isAppError } from '@svc/errors';
import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import { Faults } from './faults.ts';
import { parseManifest, type ManifestObject } from './manifest.ts';

const limits = { maxDocuments: 10, maxObjects: 20 };

function parse(text: string): ManifestObject[] | null {
  const faults = new Faults();
  try {
    const objects = parseManifest(text, limits, faults);
    faults.assertNone();
    return objects;
  } catch (error) {
    if (!isAppError(error) || error.status >= 500) throw error;
    expect(error.details['field'], error.message).toBeTypeOf('string');
    return null;
  }
}

const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {x: "1"}}\n';

describeFuzz({
  name: 'YAML manifests',
  corpus: new URL('./corpus/manifest/', import.meta.url),
  seeds: [
    map,
    `${map}data:\n  a: |\n    text\n  b: 0644\n  c: yes\n---\n${map}`,
    'apiVersion: v1\nkind: List\nitems:\n- &a {apiVersion: v1, kind: Secret, metadata: {name: b}}\n- *a\n',
    '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"c","annotations":null}}',
    'a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n',
    '? {a: 1}\n: b\n<<: {kind: X}\n',
  ],
  dictionary: [
    '---\n',
    '...\n',
    '&a ',
    '*a',
    '<<: ',
    '? ',
    ': ',
    '- ',
    '!!binary ',
    '!!js/function ',
    '%YAML 1.1\n',
    '__proto__: ',
    'constructor: ',
    'kind: List\nitems:\n',
    'generateName: a\n',
    '{',
    '[',
    '|\n',
    '>-\n',
    '\t',
    '\u0000',
    '\ud800',
  ],
  run: (input) => {
    const objects = parse(input.toString('utf8'));
    if (objects === null) return;
    expect(objects.length).toBeLessThanOrEqual(limits.maxObjects);
    for (const { object, field } of objects) {
      expect(field).toMatch(/^manifest\[\d+\]/);
      expect([typeof object.apiVersion, typeof object.kind, typeof object.metadata.name]).toEqual(
        Array.from({ length: 3 }, () => 'string'),
      );
      expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
      // What is sent to the API server must be finite and representable in JSON.
      expect(JSON.stringify(object).length).toBeLessThan(10_000_000);
    }
  },
});
