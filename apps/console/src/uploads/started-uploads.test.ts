import { describe, expect, it } from 'vitest';
import { StartedUploads } from './started-uploads.ts';

function storageWith(text: string | null) {
  let kept = text;
  return { getItem: () => kept, setItem: (_key: string, value: string) => (kept = value) };
}

describe('started uploads', () => {
  it('survive a reload until they end', () => {
    const storage = storageWith(null);
    new StartedUploads(storage).set('a', '1');
    new StartedUploads(storage).set('a', '2');
    expect(new StartedUploads(storage).get('a')).toBe('2');
    new StartedUploads(storage).delete('a');
    expect(new StartedUploads(storage).get('a')).toBeUndefined();
  });

  it('are bounded in number, and ignore foreign entries', () => {
    const storage = storageWith('[1,["x"],["y","z"]]');
    const started = new StartedUploads(storage);
    expect(started.get('y')).toBe('z');
    for (let index = 0; index < 150; index += 1) started.set(String(index), 'u');
    expect(JSON.parse(storage.getItem() ?? '')).toHaveLength(100);
    expect(new StartedUploads(storageWith('{')).get('y')).toBeUndefined();
  });

  it('are forgotten without storage', () => {
    const full = {
      getItem: () => null,
      setItem: () => {
        throw new Error('full');
      },
    };
    expect(() => new StartedUploads(full).set('a', '1')).not.toThrow();
  });
});
