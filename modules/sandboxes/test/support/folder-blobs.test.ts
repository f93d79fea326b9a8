import { temporaryFolder } from '@svc/testing';
import { describe } from 'vitest';
import { archiveBlobsContract } from '../contract/archive-blobs-contract.ts';
import { FolderBlobs } from './folder-blobs.ts';

describe('FolderBlobs', () => {
  archiveBlobsContract(async () => {
    const folder = await temporaryFolder();
    return { blobs: new FolderBlobs(folder.path), dispose: () => folder.remove() };
  });
});
