import { Select as BaseSelect } from '@base-ui/react/select';
import { Check, ChevronsUpDown } from 'lucide-react';
import { useId } from 'react';
import { classNames } from './class-names.ts';
import fieldStyles from './field.module.css';
import styles from './select.module.css';

export interface SelectOption<Value extends string> {
  value: Value;
  label: string;
  /** A second line, for choices that need an explanation. */
  description?: string;
}

export interface SelectProps<Value extends string> {
  label: string;
  labelHidden?: boolean;
  options: readonly SelectOption<Value>[];
  value: Value;
  onChange: (value: Value) => void;
  disabled?: boolean;
  className?: string;
}

export function Select<Value extends string>(props: SelectProps<Value>) {
  const { label, labelHidden, options, value, onChange, disabled = false, className } = props;
  const id = useId();
  return (
    <div className={classNames(fieldStyles['field'], className)}>
      <span id={id} className={labelHidden === true ? 'visually-hidden' : fieldStyles['label']}>
        {label}
      </span>
      <BaseSelect.Root
        items={options.map((option) => ({ value: option.value, label: option.label }))}
        value={value}
        onValueChange={(next) => {
          if (next !== null) onChange(next);
        }}
        disabled={disabled}
      >
        <BaseSelect.Trigger className={styles['trigger']} aria-labelledby={id}>
          <BaseSelect.Value className={styles['value']} />
          <BaseSelect.Icon className={styles['icon']}>
            <ChevronsUpDown size={14} />
          </BaseSelect.Icon>
        </BaseSelect.Trigger>
        <BaseSelect.Portal>
          <BaseSelect.Positioner
            className={styles['positioner']}
            positionMethod="fixed"
            sideOffset={4}
            alignItemWithTrigger={false}
          >
            <BaseSelect.Popup className={styles['popup']}>
              {options.map((option) => (
                <BaseSelect.Item key={option.value} value={option.value} className={styles['item']}>
                  <span className={styles['itemText']}>
                    <BaseSelect.ItemText>{option.label}</BaseSelect.ItemText>
                    {option.description !== undefined && (
                      <span className={styles['description']}>{option.description}</span>
                    )}
                  </span>
                  <BaseSelect.ItemIndicator>
                    <Check size={14} />
                  </BaseSelect.ItemIndicator>
                </BaseSelect.Item>
              ))}
            </BaseSelect.Popup>
          </BaseSelect.Positioner>
        </BaseSelect.Portal>
      </BaseSelect.Root>
    </div>
  );
}
