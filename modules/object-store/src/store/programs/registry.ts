import type { CommandPrograms, QueryPrograms } from '../program.ts';
import {
  blobsNotGood,
  blobsToVerify,
  condemnBlob,
  findBlob,
  holdTrash,
  isBlobKnown,
  isTrashHeld,
  noteVerified,
  objectsOfBlob,
  releaseTrash,
  claimStoreProperty,
  setStoreProperty,
  storeProperty,
} from './blob-programs.ts';
import { createBucket, deleteBucket, purgeBucket, restoreBucket, softDeleteBucket } from './bucket-commands.ts';
import {
  bucketsToPurge,
  findBucket,
  findBucketById,
  findFork,
  isProvisioned,
  listBuckets,
  listDeletedBuckets,
  openForks,
  workspaceUsage,
} from './bucket-queries.ts';
import {
  findAcmeAccount,
  findAcmeChallenge,
  findCertificate,
  putAcmeChallenge,
  removeAcmeChallenge,
  saveAcmeAccount,
  saveCertificate,
} from './certificate-programs.ts';
import { bucketDocuments, putBucketDocument, setBucketEncryption, setVersioning } from './bucket-document-programs.ts';
import { changeAttributes } from './change-attributes.ts';
import { copyObject } from './copy-commands.ts';
import { abandonFork, copyToFork, forkBucket } from './fork-commands.ts';
import { completeUpload } from './complete-upload.ts';
import {
  claimDomain,
  claimDueDomains,
  registerDomain,
  removeDomain,
  saveDomainState,
  setDomainBlocked,
} from './custom-domain-commands.ts';
import { findDomain, findServedBucket, listDomains } from './custom-domain-queries.ts';
import {
  createAccessKey,
  createPresignKey,
  deleteAccessKey,
  findAccessKey,
  findPresignKey,
  forgetPresignKeys,
  listAccessKeys,
  touchAccessKeys,
} from './key-programs.ts';
import {
  addStoreKey,
  closeStoreKeys,
  removeStoreKeys,
  replaceSealed,
  rewrapStoreKey,
  sealedRows,
  storeKeys,
} from './key-ring-programs.ts';
import { quotaUsage } from './tenant-quota.ts';
import { agingVersions, bucketsWithLifecycle, uploadsBefore } from './lifecycle-programs.ts';
import { listObjectVersions } from './list-object-versions.ts';
import { listObjects } from './list-objects.ts';
import {
  forgetDestination,
  forgetFailedNotifications,
  forgetNotifications,
  abandonNotifications,
  postponeNotification,
  retryNotifications,
} from './notification-commands.ts';
import { deliveryState, dueNotifications, failedNotifications, waitingDestinations } from './notification-queries.ts';
import { deleteObject, putObject } from './object-commands.ts';
import { replaceBucketDocuments } from './replace-bucket-documents.ts';
import { findManifestPart, findObject, manifestBlobs, manifestParts } from './object-queries.ts';
import { abortUpload, createUpload, putPart } from './upload-commands.ts';
import { findUpload, findUploadById, listParts, listUploads } from './upload-queries.ts';
import {
  dueTrash,
  forgetCompletedUploads,
  forgetManifestParts,
  forgetTrash,
  hastenTrash,
  holdContent,
  isContentNeeded,
  neededBlobs,
  usageDrift,
} from './upkeep-programs.ts';
import { addTraffic, forgetUsage, noteBucketUsage, noteWorkspaceUsage, usageHistory } from './usage-programs.ts';
import { releaseLease, takeLease, workLeases } from './work-leases.ts';

/** All commands of the store, by the name of their port method. */
export const commandPrograms: CommandPrograms = {
  createBucket,
  deleteBucket,
  softDeleteBucket,
  restoreBucket,
  purgeBucket,
  forkBucket,
  copyToFork,
  abandonFork,
  putBucketDocument,
  replaceBucketDocuments,
  setBucketEncryption,
  setVersioning,
  changeAttributes,
  putObject,
  copyObject,
  deleteObject,
  createUpload,
  putPart,
  completeUpload,
  abortUpload,
  createAccessKey,
  createPresignKey,
  deleteAccessKey,
  forgetPresignKeys,
  touchAccessKeys,
  forgetTrash,
  hastenTrash,
  holdContent,
  forgetManifestParts,
  forgetCompletedUploads,
  forgetNotifications,
  forgetDestination,
  postponeNotification,
  abandonNotifications,
  retryNotifications,
  forgetFailedNotifications,
  takeLease,
  releaseLease,
  condemnBlob,
  noteVerified,
  holdTrash,
  releaseTrash,
  setStoreProperty,
  claimStoreProperty,
  registerDomain,
  removeDomain,
  claimDueDomains,
  claimDomain,
  saveDomainState,
  saveCertificate,
  setDomainBlocked,
  saveAcmeAccount,
  putAcmeChallenge,
  removeAcmeChallenge,
  noteBucketUsage,
  noteWorkspaceUsage,
  addTraffic,
  forgetUsage,
  addStoreKey,
  rewrapStoreKey,
  closeStoreKeys,
  removeStoreKeys,
  replaceSealed,
};

export const queryPrograms: QueryPrograms = {
  waitingDestinations,
  dueNotifications,
  deliveryState,
  failedNotifications,
  isProvisioned,
  findBucket,
  findBucketById,
  listBuckets,
  bucketDocuments,
  quotaUsage,
  workspaceUsage,
  listDeletedBuckets,
  bucketsToPurge,
  findFork,
  openForks,
  findObject,
  listObjects,
  listObjectVersions,
  bucketsWithLifecycle,
  agingVersions,
  uploadsBefore,
  manifestParts,
  manifestBlobs,
  findManifestPart,
  findUpload,
  findUploadById,
  listUploads,
  listParts,
  findAccessKey,
  findPresignKey,
  listAccessKeys,
  dueTrash,
  isBlobKnown,
  isContentNeeded,
  neededBlobs,
  usageDrift,
  blobsToVerify,
  blobsNotGood,
  findBlob,
  objectsOfBlob,
  isTrashHeld,
  storeProperty,
  findDomain,
  listDomains,
  findServedBucket,
  findCertificate,
  findAcmeAccount,
  findAcmeChallenge,
  usageHistory,
  storeKeys,
  sealedRows,
  workLeases,
};

export type CommandName = keyof CommandPrograms;
export type QueryName = keyof QueryPrograms;

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(commandPrograms, name);
}
