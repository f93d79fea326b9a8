import { describe, expect, it } from 'vitest';
import { progressMessage } from '../../domain/images/progress.ts';

const NOTHING = { source: 'registry docker.io/library/debian', layers: 0, layersDone: 0, bytes: 0, bytesDone: 0 };
const HINT = 'Only the first sandbox of an image waits for this.';

describe('the progress message of an image', () => {
  it.each([
    [{ stage: 'resolving' }, 'Looking up the image from registry docker.io/library/debian.'],
    [
      { stage: 'downloading', layers: 3, layersDone: 1, bytes: 48_000_000, bytesDone: 12_500_000 },
      'Downloading the image from registry docker.io/library/debian: 26% of 48.0 MB, 1 of 3 layers done.',
    ],
    [{ stage: 'building', source: 'Debian packages (host)' }, 'Building the image from Debian packages (host).'],
  ] as const)('describes stage and progress: %j', (progress, message) => {
    expect(progressMessage({ ...NOTHING, ...progress })).toBe(`${message} ${HINT}`);
  });
});
