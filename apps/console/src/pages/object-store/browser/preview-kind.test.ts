import { describe, expect, it } from 'vitest';
import { previewKindOf } from './preview-kind.ts';

describe('the preview of an object', () => {
  it.each([
    ['a.png', 'image/png', 'image'],
    ['a.mp4', 'video/mp4', 'video'],
    ['a.ogg', 'audio/ogg; codecs=opus', 'audio'],
    ['notes', 'text/plain; charset=utf-8', 'text'],
    ['config.yaml', 'application/octet-stream', 'text'],
    ['drawing.svg', 'image/svg+xml', 'text'],
    ['program', 'application/octet-stream', 'none'],
    ['archive.zip', 'application/zip', 'none'],
  ])('of %s (%s) is %s', (key, type, kind) => expect(previewKindOf(key, type)).toBe(kind));
});
