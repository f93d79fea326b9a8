export { ObjectsPage } from './browser/objects-page.tsx';
export { BucketsPage } from './buckets/buckets-page.tsx';
export { DeletedBucketsPage } from './buckets/deleted-buckets-page.tsx';
export { DomainsPage } from './domains/domains-page.tsx';
export { KeysPage } from './keys/keys-page.tsx';
export { LifecyclePage } from './lifecycle/lifecycle-page.tsx';
export { BucketSettingsPage } from './settings/bucket-settings-page.tsx';
