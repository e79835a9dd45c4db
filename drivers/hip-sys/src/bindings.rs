// SPDX-License-Identifier: MIT
// Copyright (c) 2015 - 2023 Advanced Micro Devices, Inc. All rights reserved.
//
// Permission is hereby granted, free of charge, to any person obtaining a copy
// of this software and associated documentation files (the "Software"), to deal
// in the Software without restriction, including without limitation the rights
// to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
// copies of the Software, and to permit persons to whom the Software is
// furnished to do so, subject to the following conditions:
//
// The above copyright notice and this permission notice shall be included in
// all copies or substantial portions of the Software.
//
// THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
// IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
// FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT.  IN NO EVENT SHALL THE
// AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
// LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
// OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
// THE SOFTWARE.
//
// Generated from the headers of HIP 7.1.25424 by examples/regenerate: do not edit.
//! HIP's types and constants, as its headers spell them.

pub use core::ffi::{c_char, c_int, c_longlong, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};

#[repr(C)]
#[derive(Copy, Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct __BindgenBitfieldUnit<Storage> {
    storage: Storage,
}
impl<Storage> __BindgenBitfieldUnit<Storage> {
    #[inline]
    pub const fn new(storage: Storage) -> Self {
        Self { storage }
    }
}
impl<Storage> __BindgenBitfieldUnit<Storage>
where
    Storage: AsRef<[u8]> + AsMut<[u8]>,
{
    #[inline]
    fn extract_bit(byte: u8, index: usize) -> bool {
        let bit_index = if cfg!(target_endian = "big") {
            7 - (index % 8)
        } else {
            index % 8
        };
        let mask = 1 << bit_index;
        byte & mask == mask
    }
    #[inline]
    pub fn get_bit(&self, index: usize) -> bool {
        debug_assert!(index / 8 < self.storage.as_ref().len());
        let byte_index = index / 8;
        let byte = self.storage.as_ref()[byte_index];
        Self::extract_bit(byte, index)
    }
    #[inline]
    pub unsafe fn raw_get_bit(this: *const Self, index: usize) -> bool {
        debug_assert!(index / 8 < core::mem::size_of::< Storage > ());
        let byte_index = index / 8;
        let byte = unsafe {
            *(core::ptr::addr_of!((* this).storage) as *const u8)
                .offset(byte_index as isize)
        };
        Self::extract_bit(byte, index)
    }
    #[inline]
    fn change_bit(byte: u8, index: usize, val: bool) -> u8 {
        let bit_index = if cfg!(target_endian = "big") {
            7 - (index % 8)
        } else {
            index % 8
        };
        let mask = 1 << bit_index;
        if val { byte | mask } else { byte & !mask }
    }
    #[inline]
    pub fn set_bit(&mut self, index: usize, val: bool) {
        debug_assert!(index / 8 < self.storage.as_ref().len());
        let byte_index = index / 8;
        let byte = &mut self.storage.as_mut()[byte_index];
        *byte = Self::change_bit(*byte, index, val);
    }
    #[inline]
    pub unsafe fn raw_set_bit(this: *mut Self, index: usize, val: bool) {
        debug_assert!(index / 8 < core::mem::size_of::< Storage > ());
        let byte_index = index / 8;
        let byte = unsafe {
            (core::ptr::addr_of_mut!((* this).storage) as *mut u8)
                .offset(byte_index as isize)
        };
        unsafe { *byte = Self::change_bit(*byte, index, val) };
    }
    #[inline]
    pub fn get(&self, bit_offset: usize, bit_width: u8) -> u64 {
        debug_assert!(bit_width <= 64);
        debug_assert!(bit_offset / 8 < self.storage.as_ref().len());
        debug_assert!(
            (bit_offset + (bit_width as usize) + 7) / 8 <= self.storage.as_ref().len()
        );
        if bit_width == 0 {
            return 0;
        }
        let mut val = 0u64;
        let storage = self.storage.as_ref();
        let start_byte = bit_offset / 8;
        let bit_shift = bit_offset % 8;
        let bytes_needed = (bit_width as usize + bit_shift + 7) / 8;
        if cfg!(target_endian = "big") {
            for i in 0..bytes_needed {
                val |= (storage[start_byte + i].reverse_bits() as u64) << (i * 8);
            }
        } else {
            for i in 0..bytes_needed {
                val |= (storage[start_byte + i] as u64) << (i * 8);
            }
        }
        val >>= bit_shift;
        if bit_width < 64 {
            val &= (1u64 << bit_width) - 1;
        }
        if cfg!(target_endian = "big") {
            val = val.reverse_bits() >> (64 - bit_width as usize);
        }
        val
    }
    #[inline]
    pub unsafe fn raw_get(this: *const Self, bit_offset: usize, bit_width: u8) -> u64 {
        debug_assert!(bit_width <= 64);
        debug_assert!(bit_offset / 8 < core::mem::size_of::< Storage > ());
        debug_assert!(
            (bit_offset + (bit_width as usize) + 7) / 8 <= core::mem::size_of::< Storage
            > ()
        );
        if bit_width == 0 {
            return 0;
        }
        let mut val = 0u64;
        let start_byte = bit_offset / 8;
        let bit_shift = bit_offset % 8;
        let bytes_needed = (bit_width as usize + bit_shift + 7) / 8;
        let storage_ptr = unsafe { core::ptr::addr_of!((* this).storage) as *const u8 };
        if cfg!(target_endian = "big") {
            for i in 0..bytes_needed {
                let byte = unsafe { *storage_ptr.add(start_byte + i) };
                val |= (byte.reverse_bits() as u64) << (i * 8);
            }
        } else {
            for i in 0..bytes_needed {
                let byte = unsafe { *storage_ptr.add(start_byte + i) };
                val |= (byte as u64) << (i * 8);
            }
        }
        val >>= bit_shift;
        if bit_width < 64 {
            val &= (1u64 << bit_width) - 1;
        }
        if cfg!(target_endian = "big") {
            val = val.reverse_bits() >> (64 - bit_width as usize);
        }
        val
    }
    #[inline]
    pub fn set(&mut self, bit_offset: usize, bit_width: u8, val: u64) {
        debug_assert!(bit_width <= 64);
        debug_assert!(bit_offset / 8 < self.storage.as_ref().len());
        debug_assert!(
            (bit_offset + (bit_width as usize) + 7) / 8 <= self.storage.as_ref().len()
        );
        if bit_width == 0 {
            return;
        }
        let mut val = val;
        if bit_width < 64 {
            val &= (1u64 << bit_width) - 1;
        }
        if cfg!(target_endian = "big") {
            val = val.reverse_bits() >> (64 - bit_width as usize);
        }
        let storage = self.storage.as_mut();
        let start_byte = bit_offset / 8;
        let bit_shift = bit_offset % 8;
        let bytes_needed = (bit_width as usize + bit_shift + 7) / 8;
        val <<= bit_shift;
        let field_mask = if bit_width as usize + bit_shift >= 64 {
            !0u64 << bit_shift
        } else {
            ((1u64 << bit_width) - 1) << bit_shift
        };
        for i in 0..bytes_needed {
            let byte_val = (val >> (i * 8)) as u8;
            let byte_mask = (field_mask >> (i * 8)) as u8;
            if cfg!(target_endian = "big") {
                let byte = storage[start_byte + i].reverse_bits();
                let new_byte = (byte & !byte_mask) | (byte_val & byte_mask);
                storage[start_byte + i] = new_byte.reverse_bits();
            } else {
                storage[start_byte + i] = (storage[start_byte + i] & !byte_mask)
                    | (byte_val & byte_mask);
            }
        }
    }
    #[inline]
    pub unsafe fn raw_set(this: *mut Self, bit_offset: usize, bit_width: u8, val: u64) {
        debug_assert!(bit_width <= 64);
        debug_assert!(bit_offset / 8 < core::mem::size_of::< Storage > ());
        debug_assert!(
            (bit_offset + (bit_width as usize) + 7) / 8 <= core::mem::size_of::< Storage
            > ()
        );
        if bit_width == 0 {
            return;
        }
        let mut val = val;
        if bit_width < 64 {
            val &= (1u64 << bit_width) - 1;
        }
        if cfg!(target_endian = "big") {
            val = val.reverse_bits() >> (64 - bit_width as usize);
        }
        let start_byte = bit_offset / 8;
        let bit_shift = bit_offset % 8;
        let bytes_needed = (bit_width as usize + bit_shift + 7) / 8;
        val <<= bit_shift;
        let field_mask = if bit_width as usize + bit_shift >= 64 {
            !0u64 << bit_shift
        } else {
            ((1u64 << bit_width) - 1) << bit_shift
        };
        let storage_ptr = unsafe {
            core::ptr::addr_of_mut!((* this).storage) as *mut u8
        };
        for i in 0..bytes_needed {
            let byte_val = (val >> (i * 8)) as u8;
            let byte_mask = (field_mask >> (i * 8)) as u8;
            let byte_ptr = unsafe { storage_ptr.add(start_byte + i) };
            if cfg!(target_endian = "big") {
                let byte = unsafe { (*byte_ptr).reverse_bits() };
                let new_byte = (byte & !byte_mask) | (byte_val & byte_mask);
                unsafe { *byte_ptr = new_byte.reverse_bits() };
            } else {
                unsafe { *byte_ptr = (*byte_ptr & !byte_mask) | (byte_val & byte_mask) };
            }
        }
    }
}
/// Const-generic methods for efficient bitfield access when offset and width
/// are known at compile time.
impl<const N: usize> __BindgenBitfieldUnit<[u8; N]> {
    /// Get a field using const generics for compile-time optimization.
    /// Uses native word size operations when the field fits in usize.
    #[inline]
    pub const fn get_const<const BIT_OFFSET: usize, const BIT_WIDTH: u8>(&self) -> u64 {
        debug_assert!(BIT_WIDTH <= 64);
        debug_assert!(BIT_OFFSET / 8 < N);
        debug_assert!((BIT_OFFSET + (BIT_WIDTH as usize) + 7) / 8 <= N);
        if BIT_WIDTH == 0 {
            return 0;
        }
        let start_byte = BIT_OFFSET / 8;
        let bit_shift = BIT_OFFSET % 8;
        let bytes_needed = (BIT_WIDTH as usize + bit_shift + 7) / 8;
        if BIT_WIDTH as usize + bit_shift <= usize::BITS as usize {
            let mut val = 0usize;
            if cfg!(target_endian = "big") {
                let mut i = 0;
                while i < bytes_needed {
                    val
                        |= (self.storage[start_byte + i].reverse_bits() as usize)
                            << (i * 8);
                    i += 1;
                }
            } else {
                let mut i = 0;
                while i < bytes_needed {
                    val |= (self.storage[start_byte + i] as usize) << (i * 8);
                    i += 1;
                }
            }
            val >>= bit_shift;
            if (BIT_WIDTH as u32) < usize::BITS {
                val &= (1usize << BIT_WIDTH) - 1;
            }
            if cfg!(target_endian = "big") {
                val = val.reverse_bits() >> (usize::BITS as usize - BIT_WIDTH as usize);
            }
            val as u64
        } else {
            let mut val = 0u64;
            if cfg!(target_endian = "big") {
                let mut i = 0;
                while i < bytes_needed {
                    val
                        |= (self.storage[start_byte + i].reverse_bits() as u64)
                            << (i * 8);
                    i += 1;
                }
            } else {
                let mut i = 0;
                while i < bytes_needed {
                    val |= (self.storage[start_byte + i] as u64) << (i * 8);
                    i += 1;
                }
            }
            val >>= bit_shift;
            if BIT_WIDTH < 64 {
                val &= (1u64 << BIT_WIDTH) - 1;
            }
            if cfg!(target_endian = "big") {
                val = val.reverse_bits() >> (64 - BIT_WIDTH as usize);
            }
            val
        }
    }
    /// Set a field using const generics for compile-time optimization.
    /// Uses native word size operations when the field fits in usize.
    #[inline]
    pub fn set_const<const BIT_OFFSET: usize, const BIT_WIDTH: u8>(&mut self, val: u64) {
        debug_assert!(BIT_WIDTH <= 64);
        debug_assert!(BIT_OFFSET / 8 < N);
        debug_assert!((BIT_OFFSET + (BIT_WIDTH as usize) + 7) / 8 <= N);
        if BIT_WIDTH == 0 {
            return;
        }
        let start_byte = BIT_OFFSET / 8;
        let bit_shift = BIT_OFFSET % 8;
        let bytes_needed = (BIT_WIDTH as usize + bit_shift + 7) / 8;
        if BIT_WIDTH as usize + bit_shift <= usize::BITS as usize {
            let mut val = val as usize;
            if (BIT_WIDTH as u32) < usize::BITS {
                val &= (1usize << BIT_WIDTH) - 1;
            }
            if cfg!(target_endian = "big") {
                val = val.reverse_bits() >> (usize::BITS as usize - BIT_WIDTH as usize);
            }
            val <<= bit_shift;
            let field_mask = if BIT_WIDTH as usize + bit_shift >= usize::BITS as usize {
                !0usize << bit_shift
            } else {
                ((1usize << BIT_WIDTH) - 1) << bit_shift
            };
            let mut i = 0;
            while i < bytes_needed {
                let byte_val = (val >> (i * 8)) as u8;
                let byte_mask = (field_mask >> (i * 8)) as u8;
                if cfg!(target_endian = "big") {
                    let byte = self.storage[start_byte + i].reverse_bits();
                    let new_byte = (byte & !byte_mask) | (byte_val & byte_mask);
                    self.storage[start_byte + i] = new_byte.reverse_bits();
                } else {
                    self.storage[start_byte + i] = (self.storage[start_byte + i]
                        & !byte_mask) | (byte_val & byte_mask);
                }
                i += 1;
            }
        } else {
            let mut val = val;
            if BIT_WIDTH < 64 {
                val &= (1u64 << BIT_WIDTH) - 1;
            }
            if cfg!(target_endian = "big") {
                val = val.reverse_bits() >> (64 - BIT_WIDTH as usize);
            }
            val <<= bit_shift;
            let field_mask = if BIT_WIDTH as usize + bit_shift >= 64 {
                !0u64 << bit_shift
            } else {
                ((1u64 << BIT_WIDTH) - 1) << bit_shift
            };
            let mut i = 0;
            while i < bytes_needed {
                let byte_val = (val >> (i * 8)) as u8;
                let byte_mask = (field_mask >> (i * 8)) as u8;
                if cfg!(target_endian = "big") {
                    let byte = self.storage[start_byte + i].reverse_bits();
                    let new_byte = (byte & !byte_mask) | (byte_val & byte_mask);
                    self.storage[start_byte + i] = new_byte.reverse_bits();
                } else {
                    self.storage[start_byte + i] = (self.storage[start_byte + i]
                        & !byte_mask) | (byte_val & byte_mask);
                }
                i += 1;
            }
        }
    }
    /// Raw pointer get using const generics for compile-time optimization.
    /// Uses native word size operations when the field fits in usize.
    #[inline]
    pub const unsafe fn raw_get_const<const BIT_OFFSET: usize, const BIT_WIDTH: u8>(
        this: *const Self,
    ) -> u64 {
        debug_assert!(BIT_WIDTH <= 64);
        debug_assert!(BIT_OFFSET / 8 < N);
        debug_assert!((BIT_OFFSET + (BIT_WIDTH as usize) + 7) / 8 <= N);
        if BIT_WIDTH == 0 {
            return 0;
        }
        let start_byte = BIT_OFFSET / 8;
        let bit_shift = BIT_OFFSET % 8;
        let bytes_needed = (BIT_WIDTH as usize + bit_shift + 7) / 8;
        let storage_ptr = unsafe { core::ptr::addr_of!((* this).storage) as *const u8 };
        if BIT_WIDTH as usize + bit_shift <= usize::BITS as usize {
            let mut val = 0usize;
            if cfg!(target_endian = "big") {
                let mut i = 0;
                while i < bytes_needed {
                    let byte = unsafe { *storage_ptr.add(start_byte + i) };
                    val |= (byte.reverse_bits() as usize) << (i * 8);
                    i += 1;
                }
            } else {
                let mut i = 0;
                while i < bytes_needed {
                    let byte = unsafe { *storage_ptr.add(start_byte + i) };
                    val |= (byte as usize) << (i * 8);
                    i += 1;
                }
            }
            val >>= bit_shift;
            if (BIT_WIDTH as u32) < usize::BITS {
                val &= (1usize << BIT_WIDTH) - 1;
            }
            if cfg!(target_endian = "big") {
                val = val.reverse_bits() >> (usize::BITS as usize - BIT_WIDTH as usize);
            }
            val as u64
        } else {
            let mut val = 0u64;
            if cfg!(target_endian = "big") {
                let mut i = 0;
                while i < bytes_needed {
                    let byte = unsafe { *storage_ptr.add(start_byte + i) };
                    val |= (byte.reverse_bits() as u64) << (i * 8);
                    i += 1;
                }
            } else {
                let mut i = 0;
                while i < bytes_needed {
                    let byte = unsafe { *storage_ptr.add(start_byte + i) };
                    val |= (byte as u64) << (i * 8);
                    i += 1;
                }
            }
            val >>= bit_shift;
            if BIT_WIDTH < 64 {
                val &= (1u64 << BIT_WIDTH) - 1;
            }
            if cfg!(target_endian = "big") {
                val = val.reverse_bits() >> (64 - BIT_WIDTH as usize);
            }
            val
        }
    }
    /// Raw pointer set using const generics for compile-time optimization.
    /// Uses native word size operations when the field fits in usize.
    #[inline]
    pub unsafe fn raw_set_const<const BIT_OFFSET: usize, const BIT_WIDTH: u8>(
        this: *mut Self,
        val: u64,
    ) {
        debug_assert!(BIT_WIDTH <= 64);
        debug_assert!(BIT_OFFSET / 8 < N);
        debug_assert!((BIT_OFFSET + (BIT_WIDTH as usize) + 7) / 8 <= N);
        if BIT_WIDTH == 0 {
            return;
        }
        let start_byte = BIT_OFFSET / 8;
        let bit_shift = BIT_OFFSET % 8;
        let bytes_needed = (BIT_WIDTH as usize + bit_shift + 7) / 8;
        let storage_ptr = this.cast::<[u8; N]>().cast::<u8>();
        if BIT_WIDTH as usize + bit_shift <= usize::BITS as usize {
            let mut val = val as usize;
            if (BIT_WIDTH as u32) < usize::BITS {
                val &= (1usize << BIT_WIDTH) - 1;
            }
            if cfg!(target_endian = "big") {
                val = val.reverse_bits() >> (usize::BITS as usize - BIT_WIDTH as usize);
            }
            val <<= bit_shift;
            let field_mask = if BIT_WIDTH as usize + bit_shift >= usize::BITS as usize {
                !0usize << bit_shift
            } else {
                ((1usize << BIT_WIDTH) - 1) << bit_shift
            };
            let mut i = 0;
            while i < bytes_needed {
                let byte_val = (val >> (i * 8)) as u8;
                let byte_mask = (field_mask >> (i * 8)) as u8;
                let byte_ptr = unsafe { storage_ptr.add(start_byte + i) };
                if cfg!(target_endian = "big") {
                    let byte = unsafe { (*byte_ptr).reverse_bits() };
                    let new_byte = (byte & !byte_mask) | (byte_val & byte_mask);
                    unsafe { *byte_ptr = new_byte.reverse_bits() };
                } else {
                    unsafe {
                        *byte_ptr = (*byte_ptr & !byte_mask) | (byte_val & byte_mask)
                    };
                }
                i += 1;
            }
        } else {
            let mut val = val;
            if BIT_WIDTH < 64 {
                val &= (1u64 << BIT_WIDTH) - 1;
            }
            if cfg!(target_endian = "big") {
                val = val.reverse_bits() >> (64 - BIT_WIDTH as usize);
            }
            val <<= bit_shift;
            let field_mask = if BIT_WIDTH as usize + bit_shift >= 64 {
                !0u64 << bit_shift
            } else {
                ((1u64 << BIT_WIDTH) - 1) << bit_shift
            };
            let mut i = 0;
            while i < bytes_needed {
                let byte_val = (val >> (i * 8)) as u8;
                let byte_mask = (field_mask >> (i * 8)) as u8;
                let byte_ptr = unsafe { storage_ptr.add(start_byte + i) };
                if cfg!(target_endian = "big") {
                    let byte = unsafe { (*byte_ptr).reverse_bits() };
                    let new_byte = (byte & !byte_mask) | (byte_val & byte_mask);
                    unsafe { *byte_ptr = new_byte.reverse_bits() };
                } else {
                    unsafe {
                        *byte_ptr = (*byte_ptr & !byte_mask) | (byte_val & byte_mask)
                    };
                }
                i += 1;
            }
        }
    }
}
pub const hipIpcMemLazyEnablePeerAccess: u32 = 1;
pub const HIP_IPC_HANDLE_SIZE: u32 = 64;
pub const hipStreamDefault: u32 = 0;
pub const hipStreamNonBlocking: u32 = 1;
pub const hipEventDefault: u32 = 0;
pub const hipEventBlockingSync: u32 = 1;
pub const hipEventDisableTiming: u32 = 2;
pub const hipEventInterprocess: u32 = 4;
pub const hipEventRecordDefault: u32 = 0;
pub const hipEventRecordExternal: u32 = 1;
pub const hipEventDisableSystemFence: u32 = 536870912;
pub const hipEventReleaseToDevice: u32 = 1073741824;
pub const hipEventReleaseToSystem: u32 = 2147483648;
pub const hipHostAllocDefault: u32 = 0;
pub const hipHostMallocDefault: u32 = 0;
pub const hipHostAllocPortable: u32 = 1;
pub const hipHostMallocPortable: u32 = 1;
pub const hipHostAllocMapped: u32 = 2;
pub const hipHostMallocMapped: u32 = 2;
pub const hipHostAllocWriteCombined: u32 = 4;
pub const hipHostMallocWriteCombined: u32 = 4;
pub const hipHostMallocUncached: u32 = 268435456;
pub const hipHostAllocUncached: u32 = 268435456;
pub const hipHostMallocNumaUser: u32 = 536870912;
pub const hipHostMallocCoherent: u32 = 1073741824;
pub const hipHostMallocNonCoherent: u32 = 2147483648;
pub const hipMemAttachGlobal: u32 = 1;
pub const hipMemAttachHost: u32 = 2;
pub const hipMemAttachSingle: u32 = 4;
pub const hipDeviceMallocDefault: u32 = 0;
pub const hipDeviceMallocFinegrained: u32 = 1;
pub const hipMallocSignalMemory: u32 = 2;
pub const hipDeviceMallocUncached: u32 = 3;
pub const hipDeviceMallocContiguous: u32 = 4;
pub const hipHostRegisterDefault: u32 = 0;
pub const hipHostRegisterPortable: u32 = 1;
pub const hipHostRegisterMapped: u32 = 2;
pub const hipHostRegisterIoMemory: u32 = 4;
pub const hipHostRegisterReadOnly: u32 = 8;
pub const hipDeviceScheduleAuto: u32 = 0;
pub const hipDeviceScheduleSpin: u32 = 1;
pub const hipDeviceScheduleYield: u32 = 2;
pub const hipDeviceScheduleBlockingSync: u32 = 4;
pub const hipDeviceScheduleMask: u32 = 7;
pub const hipDeviceMapHost: u32 = 8;
pub const hipDeviceLmemResizeToMax: u32 = 16;
pub const hipOccupancyDefault: u32 = 0;
pub const hipOccupancyDisableCachingOverride: u32 = 1;
pub const hipCooperativeLaunchMultiDeviceNoPreSync: u32 = 1;
pub const hipCooperativeLaunchMultiDeviceNoPostSync: u32 = 2;
pub const hipStreamWaitValueGte: u32 = 0;
pub const hipStreamWaitValueEq: u32 = 1;
pub const hipStreamWaitValueAnd: u32 = 2;
pub const hipStreamWaitValueNor: u32 = 3;
impl hipJitOption {
    pub const hipJitOptionMaxRegisters: hipJitOption = hipJitOption(0);
    pub const hipJitOptionThreadsPerBlock: hipJitOption = hipJitOption(1);
    pub const hipJitOptionWallTime: hipJitOption = hipJitOption(2);
    pub const hipJitOptionInfoLogBuffer: hipJitOption = hipJitOption(3);
    pub const hipJitOptionInfoLogBufferSizeBytes: hipJitOption = hipJitOption(4);
    pub const hipJitOptionErrorLogBuffer: hipJitOption = hipJitOption(5);
    pub const hipJitOptionErrorLogBufferSizeBytes: hipJitOption = hipJitOption(6);
    pub const hipJitOptionOptimizationLevel: hipJitOption = hipJitOption(7);
    pub const hipJitOptionTargetFromContext: hipJitOption = hipJitOption(8);
    pub const hipJitOptionTarget: hipJitOption = hipJitOption(9);
    pub const hipJitOptionFallbackStrategy: hipJitOption = hipJitOption(10);
    pub const hipJitOptionGenerateDebugInfo: hipJitOption = hipJitOption(11);
    pub const hipJitOptionLogVerbose: hipJitOption = hipJitOption(12);
    pub const hipJitOptionGenerateLineInfo: hipJitOption = hipJitOption(13);
    pub const hipJitOptionCacheMode: hipJitOption = hipJitOption(14);
    pub const hipJitOptionSm3xOpt: hipJitOption = hipJitOption(15);
    pub const hipJitOptionFastCompile: hipJitOption = hipJitOption(16);
    pub const hipJitOptionGlobalSymbolNames: hipJitOption = hipJitOption(17);
    pub const hipJitOptionGlobalSymbolAddresses: hipJitOption = hipJitOption(18);
    pub const hipJitOptionGlobalSymbolCount: hipJitOption = hipJitOption(19);
    pub const hipJitOptionLto: hipJitOption = hipJitOption(20);
    pub const hipJitOptionFtz: hipJitOption = hipJitOption(21);
    pub const hipJitOptionPrecDiv: hipJitOption = hipJitOption(22);
    pub const hipJitOptionPrecSqrt: hipJitOption = hipJitOption(23);
    pub const hipJitOptionFma: hipJitOption = hipJitOption(24);
    pub const hipJitOptionPositionIndependentCode: hipJitOption = hipJitOption(25);
    pub const hipJitOptionMinCTAPerSM: hipJitOption = hipJitOption(26);
    pub const hipJitOptionMaxThreadsPerBlock: hipJitOption = hipJitOption(27);
    pub const hipJitOptionOverrideDirectiveValues: hipJitOption = hipJitOption(28);
    pub const hipJitOptionNumOptions: hipJitOption = hipJitOption(29);
    pub const hipJitOptionIRtoISAOptExt: hipJitOption = hipJitOption(10000);
    pub const hipJitOptionIRtoISAOptCountExt: hipJitOption = hipJitOption(10001);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipJitOption(pub c_uint);
impl hipLibraryOption_e {
    pub const hipLibraryHostUniversalFunctionAndDataTable: hipLibraryOption_e = hipLibraryOption_e(
        0,
    );
    pub const hipLibraryBinaryIsPreserved: hipLibraryOption_e = hipLibraryOption_e(1);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipLibraryOption_e(pub c_uint);
pub use self::hipLibraryOption_e as hipLibraryOption;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hipDeviceArch_t {
    pub _bindgen_align: [u32; 0],
    pub _bitfield_1: __BindgenBitfieldUnit<[u8; 3usize]>,
    pub __bindgen_padding_0: u8,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hipDeviceArch_t"][::std::mem::size_of::<hipDeviceArch_t>() - 4usize];
    ["Alignment of hipDeviceArch_t"][::std::mem::align_of::<hipDeviceArch_t>() - 4usize];
};
impl hipDeviceArch_t {
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn hasGlobalInt32Atomics(&self) -> c_uint {
        unsafe {
            ::std::mem::transmute(self._bitfield_1.get_const::<0usize, 1u8>() as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_hasGlobalInt32Atomics(&mut self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            self._bitfield_1.set_const::<0usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn hasGlobalInt32Atomics_raw(this: *const Self) -> c_uint {
        unsafe {
            ::std::mem::transmute(
                <__BindgenBitfieldUnit<
                    [u8; 3usize],
                >>::raw_get_const::<
                    0usize,
                    1u8,
                >(::std::ptr::addr_of!((* this)._bitfield_1)) as u32,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_hasGlobalInt32Atomics_raw(this: *mut Self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            <__BindgenBitfieldUnit<
                [u8; 3usize],
            >>::raw_set_const::<
                0usize,
                1u8,
            >(::std::ptr::addr_of_mut!((* this)._bitfield_1), val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn hasGlobalFloatAtomicExch(&self) -> c_uint {
        unsafe {
            ::std::mem::transmute(self._bitfield_1.get_const::<1usize, 1u8>() as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_hasGlobalFloatAtomicExch(&mut self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            self._bitfield_1.set_const::<1usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn hasGlobalFloatAtomicExch_raw(this: *const Self) -> c_uint {
        unsafe {
            ::std::mem::transmute(
                <__BindgenBitfieldUnit<
                    [u8; 3usize],
                >>::raw_get_const::<
                    1usize,
                    1u8,
                >(::std::ptr::addr_of!((* this)._bitfield_1)) as u32,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_hasGlobalFloatAtomicExch_raw(this: *mut Self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            <__BindgenBitfieldUnit<
                [u8; 3usize],
            >>::raw_set_const::<
                1usize,
                1u8,
            >(::std::ptr::addr_of_mut!((* this)._bitfield_1), val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn hasSharedInt32Atomics(&self) -> c_uint {
        unsafe {
            ::std::mem::transmute(self._bitfield_1.get_const::<2usize, 1u8>() as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_hasSharedInt32Atomics(&mut self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            self._bitfield_1.set_const::<2usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn hasSharedInt32Atomics_raw(this: *const Self) -> c_uint {
        unsafe {
            ::std::mem::transmute(
                <__BindgenBitfieldUnit<
                    [u8; 3usize],
                >>::raw_get_const::<
                    2usize,
                    1u8,
                >(::std::ptr::addr_of!((* this)._bitfield_1)) as u32,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_hasSharedInt32Atomics_raw(this: *mut Self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            <__BindgenBitfieldUnit<
                [u8; 3usize],
            >>::raw_set_const::<
                2usize,
                1u8,
            >(::std::ptr::addr_of_mut!((* this)._bitfield_1), val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn hasSharedFloatAtomicExch(&self) -> c_uint {
        unsafe {
            ::std::mem::transmute(self._bitfield_1.get_const::<3usize, 1u8>() as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_hasSharedFloatAtomicExch(&mut self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            self._bitfield_1.set_const::<3usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn hasSharedFloatAtomicExch_raw(this: *const Self) -> c_uint {
        unsafe {
            ::std::mem::transmute(
                <__BindgenBitfieldUnit<
                    [u8; 3usize],
                >>::raw_get_const::<
                    3usize,
                    1u8,
                >(::std::ptr::addr_of!((* this)._bitfield_1)) as u32,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_hasSharedFloatAtomicExch_raw(this: *mut Self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            <__BindgenBitfieldUnit<
                [u8; 3usize],
            >>::raw_set_const::<
                3usize,
                1u8,
            >(::std::ptr::addr_of_mut!((* this)._bitfield_1), val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn hasFloatAtomicAdd(&self) -> c_uint {
        unsafe {
            ::std::mem::transmute(self._bitfield_1.get_const::<4usize, 1u8>() as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_hasFloatAtomicAdd(&mut self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            self._bitfield_1.set_const::<4usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn hasFloatAtomicAdd_raw(this: *const Self) -> c_uint {
        unsafe {
            ::std::mem::transmute(
                <__BindgenBitfieldUnit<
                    [u8; 3usize],
                >>::raw_get_const::<
                    4usize,
                    1u8,
                >(::std::ptr::addr_of!((* this)._bitfield_1)) as u32,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_hasFloatAtomicAdd_raw(this: *mut Self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            <__BindgenBitfieldUnit<
                [u8; 3usize],
            >>::raw_set_const::<
                4usize,
                1u8,
            >(::std::ptr::addr_of_mut!((* this)._bitfield_1), val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn hasGlobalInt64Atomics(&self) -> c_uint {
        unsafe {
            ::std::mem::transmute(self._bitfield_1.get_const::<5usize, 1u8>() as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_hasGlobalInt64Atomics(&mut self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            self._bitfield_1.set_const::<5usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn hasGlobalInt64Atomics_raw(this: *const Self) -> c_uint {
        unsafe {
            ::std::mem::transmute(
                <__BindgenBitfieldUnit<
                    [u8; 3usize],
                >>::raw_get_const::<
                    5usize,
                    1u8,
                >(::std::ptr::addr_of!((* this)._bitfield_1)) as u32,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_hasGlobalInt64Atomics_raw(this: *mut Self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            <__BindgenBitfieldUnit<
                [u8; 3usize],
            >>::raw_set_const::<
                5usize,
                1u8,
            >(::std::ptr::addr_of_mut!((* this)._bitfield_1), val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn hasSharedInt64Atomics(&self) -> c_uint {
        unsafe {
            ::std::mem::transmute(self._bitfield_1.get_const::<6usize, 1u8>() as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_hasSharedInt64Atomics(&mut self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            self._bitfield_1.set_const::<6usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn hasSharedInt64Atomics_raw(this: *const Self) -> c_uint {
        unsafe {
            ::std::mem::transmute(
                <__BindgenBitfieldUnit<
                    [u8; 3usize],
                >>::raw_get_const::<
                    6usize,
                    1u8,
                >(::std::ptr::addr_of!((* this)._bitfield_1)) as u32,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_hasSharedInt64Atomics_raw(this: *mut Self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            <__BindgenBitfieldUnit<
                [u8; 3usize],
            >>::raw_set_const::<
                6usize,
                1u8,
            >(::std::ptr::addr_of_mut!((* this)._bitfield_1), val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn hasDoubles(&self) -> c_uint {
        unsafe {
            ::std::mem::transmute(self._bitfield_1.get_const::<7usize, 1u8>() as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_hasDoubles(&mut self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            self._bitfield_1.set_const::<7usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn hasDoubles_raw(this: *const Self) -> c_uint {
        unsafe {
            ::std::mem::transmute(
                <__BindgenBitfieldUnit<
                    [u8; 3usize],
                >>::raw_get_const::<
                    7usize,
                    1u8,
                >(::std::ptr::addr_of!((* this)._bitfield_1)) as u32,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_hasDoubles_raw(this: *mut Self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            <__BindgenBitfieldUnit<
                [u8; 3usize],
            >>::raw_set_const::<
                7usize,
                1u8,
            >(::std::ptr::addr_of_mut!((* this)._bitfield_1), val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn hasWarpVote(&self) -> c_uint {
        unsafe {
            ::std::mem::transmute(self._bitfield_1.get_const::<8usize, 1u8>() as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_hasWarpVote(&mut self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            self._bitfield_1.set_const::<8usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn hasWarpVote_raw(this: *const Self) -> c_uint {
        unsafe {
            ::std::mem::transmute(
                <__BindgenBitfieldUnit<
                    [u8; 3usize],
                >>::raw_get_const::<
                    8usize,
                    1u8,
                >(::std::ptr::addr_of!((* this)._bitfield_1)) as u32,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_hasWarpVote_raw(this: *mut Self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            <__BindgenBitfieldUnit<
                [u8; 3usize],
            >>::raw_set_const::<
                8usize,
                1u8,
            >(::std::ptr::addr_of_mut!((* this)._bitfield_1), val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn hasWarpBallot(&self) -> c_uint {
        unsafe {
            ::std::mem::transmute(self._bitfield_1.get_const::<9usize, 1u8>() as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_hasWarpBallot(&mut self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            self._bitfield_1.set_const::<9usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn hasWarpBallot_raw(this: *const Self) -> c_uint {
        unsafe {
            ::std::mem::transmute(
                <__BindgenBitfieldUnit<
                    [u8; 3usize],
                >>::raw_get_const::<
                    9usize,
                    1u8,
                >(::std::ptr::addr_of!((* this)._bitfield_1)) as u32,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_hasWarpBallot_raw(this: *mut Self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            <__BindgenBitfieldUnit<
                [u8; 3usize],
            >>::raw_set_const::<
                9usize,
                1u8,
            >(::std::ptr::addr_of_mut!((* this)._bitfield_1), val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn hasWarpShuffle(&self) -> c_uint {
        unsafe {
            ::std::mem::transmute(self._bitfield_1.get_const::<10usize, 1u8>() as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_hasWarpShuffle(&mut self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            self._bitfield_1.set_const::<10usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn hasWarpShuffle_raw(this: *const Self) -> c_uint {
        unsafe {
            ::std::mem::transmute(
                <__BindgenBitfieldUnit<
                    [u8; 3usize],
                >>::raw_get_const::<
                    10usize,
                    1u8,
                >(::std::ptr::addr_of!((* this)._bitfield_1)) as u32,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_hasWarpShuffle_raw(this: *mut Self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            <__BindgenBitfieldUnit<
                [u8; 3usize],
            >>::raw_set_const::<
                10usize,
                1u8,
            >(::std::ptr::addr_of_mut!((* this)._bitfield_1), val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn hasFunnelShift(&self) -> c_uint {
        unsafe {
            ::std::mem::transmute(self._bitfield_1.get_const::<11usize, 1u8>() as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_hasFunnelShift(&mut self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            self._bitfield_1.set_const::<11usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn hasFunnelShift_raw(this: *const Self) -> c_uint {
        unsafe {
            ::std::mem::transmute(
                <__BindgenBitfieldUnit<
                    [u8; 3usize],
                >>::raw_get_const::<
                    11usize,
                    1u8,
                >(::std::ptr::addr_of!((* this)._bitfield_1)) as u32,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_hasFunnelShift_raw(this: *mut Self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            <__BindgenBitfieldUnit<
                [u8; 3usize],
            >>::raw_set_const::<
                11usize,
                1u8,
            >(::std::ptr::addr_of_mut!((* this)._bitfield_1), val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn hasThreadFenceSystem(&self) -> c_uint {
        unsafe {
            ::std::mem::transmute(self._bitfield_1.get_const::<12usize, 1u8>() as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_hasThreadFenceSystem(&mut self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            self._bitfield_1.set_const::<12usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn hasThreadFenceSystem_raw(this: *const Self) -> c_uint {
        unsafe {
            ::std::mem::transmute(
                <__BindgenBitfieldUnit<
                    [u8; 3usize],
                >>::raw_get_const::<
                    12usize,
                    1u8,
                >(::std::ptr::addr_of!((* this)._bitfield_1)) as u32,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_hasThreadFenceSystem_raw(this: *mut Self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            <__BindgenBitfieldUnit<
                [u8; 3usize],
            >>::raw_set_const::<
                12usize,
                1u8,
            >(::std::ptr::addr_of_mut!((* this)._bitfield_1), val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn hasSyncThreadsExt(&self) -> c_uint {
        unsafe {
            ::std::mem::transmute(self._bitfield_1.get_const::<13usize, 1u8>() as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_hasSyncThreadsExt(&mut self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            self._bitfield_1.set_const::<13usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn hasSyncThreadsExt_raw(this: *const Self) -> c_uint {
        unsafe {
            ::std::mem::transmute(
                <__BindgenBitfieldUnit<
                    [u8; 3usize],
                >>::raw_get_const::<
                    13usize,
                    1u8,
                >(::std::ptr::addr_of!((* this)._bitfield_1)) as u32,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_hasSyncThreadsExt_raw(this: *mut Self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            <__BindgenBitfieldUnit<
                [u8; 3usize],
            >>::raw_set_const::<
                13usize,
                1u8,
            >(::std::ptr::addr_of_mut!((* this)._bitfield_1), val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn hasSurfaceFuncs(&self) -> c_uint {
        unsafe {
            ::std::mem::transmute(self._bitfield_1.get_const::<14usize, 1u8>() as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_hasSurfaceFuncs(&mut self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            self._bitfield_1.set_const::<14usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn hasSurfaceFuncs_raw(this: *const Self) -> c_uint {
        unsafe {
            ::std::mem::transmute(
                <__BindgenBitfieldUnit<
                    [u8; 3usize],
                >>::raw_get_const::<
                    14usize,
                    1u8,
                >(::std::ptr::addr_of!((* this)._bitfield_1)) as u32,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_hasSurfaceFuncs_raw(this: *mut Self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            <__BindgenBitfieldUnit<
                [u8; 3usize],
            >>::raw_set_const::<
                14usize,
                1u8,
            >(::std::ptr::addr_of_mut!((* this)._bitfield_1), val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn has3dGrid(&self) -> c_uint {
        unsafe {
            ::std::mem::transmute(self._bitfield_1.get_const::<15usize, 1u8>() as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_has3dGrid(&mut self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            self._bitfield_1.set_const::<15usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn has3dGrid_raw(this: *const Self) -> c_uint {
        unsafe {
            ::std::mem::transmute(
                <__BindgenBitfieldUnit<
                    [u8; 3usize],
                >>::raw_get_const::<
                    15usize,
                    1u8,
                >(::std::ptr::addr_of!((* this)._bitfield_1)) as u32,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_has3dGrid_raw(this: *mut Self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            <__BindgenBitfieldUnit<
                [u8; 3usize],
            >>::raw_set_const::<
                15usize,
                1u8,
            >(::std::ptr::addr_of_mut!((* this)._bitfield_1), val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn hasDynamicParallelism(&self) -> c_uint {
        unsafe {
            ::std::mem::transmute(self._bitfield_1.get_const::<16usize, 1u8>() as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_hasDynamicParallelism(&mut self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            self._bitfield_1.set_const::<16usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn hasDynamicParallelism_raw(this: *const Self) -> c_uint {
        unsafe {
            ::std::mem::transmute(
                <__BindgenBitfieldUnit<
                    [u8; 3usize],
                >>::raw_get_const::<
                    16usize,
                    1u8,
                >(::std::ptr::addr_of!((* this)._bitfield_1)) as u32,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_hasDynamicParallelism_raw(this: *mut Self, val: c_uint) {
        unsafe {
            let val: u32 = ::std::mem::transmute(val);
            <__BindgenBitfieldUnit<
                [u8; 3usize],
            >>::raw_set_const::<
                16usize,
                1u8,
            >(::std::ptr::addr_of_mut!((* this)._bitfield_1), val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn new_bitfield_1(
        hasGlobalInt32Atomics: c_uint,
        hasGlobalFloatAtomicExch: c_uint,
        hasSharedInt32Atomics: c_uint,
        hasSharedFloatAtomicExch: c_uint,
        hasFloatAtomicAdd: c_uint,
        hasGlobalInt64Atomics: c_uint,
        hasSharedInt64Atomics: c_uint,
        hasDoubles: c_uint,
        hasWarpVote: c_uint,
        hasWarpBallot: c_uint,
        hasWarpShuffle: c_uint,
        hasFunnelShift: c_uint,
        hasThreadFenceSystem: c_uint,
        hasSyncThreadsExt: c_uint,
        hasSurfaceFuncs: c_uint,
        has3dGrid: c_uint,
        hasDynamicParallelism: c_uint,
    ) -> __BindgenBitfieldUnit<[u8; 3usize]> {
        let mut __bindgen_bitfield_unit: __BindgenBitfieldUnit<[u8; 3usize]> = Default::default();
        __bindgen_bitfield_unit
            .set_const::<
                0usize,
                1u8,
            >({
                let hasGlobalInt32Atomics: u32 = unsafe {
                    ::std::mem::transmute(hasGlobalInt32Atomics)
                };
                hasGlobalInt32Atomics as u64
            });
        __bindgen_bitfield_unit
            .set_const::<
                1usize,
                1u8,
            >({
                let hasGlobalFloatAtomicExch: u32 = unsafe {
                    ::std::mem::transmute(hasGlobalFloatAtomicExch)
                };
                hasGlobalFloatAtomicExch as u64
            });
        __bindgen_bitfield_unit
            .set_const::<
                2usize,
                1u8,
            >({
                let hasSharedInt32Atomics: u32 = unsafe {
                    ::std::mem::transmute(hasSharedInt32Atomics)
                };
                hasSharedInt32Atomics as u64
            });
        __bindgen_bitfield_unit
            .set_const::<
                3usize,
                1u8,
            >({
                let hasSharedFloatAtomicExch: u32 = unsafe {
                    ::std::mem::transmute(hasSharedFloatAtomicExch)
                };
                hasSharedFloatAtomicExch as u64
            });
        __bindgen_bitfield_unit
            .set_const::<
                4usize,
                1u8,
            >({
                let hasFloatAtomicAdd: u32 = unsafe {
                    ::std::mem::transmute(hasFloatAtomicAdd)
                };
                hasFloatAtomicAdd as u64
            });
        __bindgen_bitfield_unit
            .set_const::<
                5usize,
                1u8,
            >({
                let hasGlobalInt64Atomics: u32 = unsafe {
                    ::std::mem::transmute(hasGlobalInt64Atomics)
                };
                hasGlobalInt64Atomics as u64
            });
        __bindgen_bitfield_unit
            .set_const::<
                6usize,
                1u8,
            >({
                let hasSharedInt64Atomics: u32 = unsafe {
                    ::std::mem::transmute(hasSharedInt64Atomics)
                };
                hasSharedInt64Atomics as u64
            });
        __bindgen_bitfield_unit
            .set_const::<
                7usize,
                1u8,
            >({
                let hasDoubles: u32 = unsafe { ::std::mem::transmute(hasDoubles) };
                hasDoubles as u64
            });
        __bindgen_bitfield_unit
            .set_const::<
                8usize,
                1u8,
            >({
                let hasWarpVote: u32 = unsafe { ::std::mem::transmute(hasWarpVote) };
                hasWarpVote as u64
            });
        __bindgen_bitfield_unit
            .set_const::<
                9usize,
                1u8,
            >({
                let hasWarpBallot: u32 = unsafe { ::std::mem::transmute(hasWarpBallot) };
                hasWarpBallot as u64
            });
        __bindgen_bitfield_unit
            .set_const::<
                10usize,
                1u8,
            >({
                let hasWarpShuffle: u32 = unsafe {
                    ::std::mem::transmute(hasWarpShuffle)
                };
                hasWarpShuffle as u64
            });
        __bindgen_bitfield_unit
            .set_const::<
                11usize,
                1u8,
            >({
                let hasFunnelShift: u32 = unsafe {
                    ::std::mem::transmute(hasFunnelShift)
                };
                hasFunnelShift as u64
            });
        __bindgen_bitfield_unit
            .set_const::<
                12usize,
                1u8,
            >({
                let hasThreadFenceSystem: u32 = unsafe {
                    ::std::mem::transmute(hasThreadFenceSystem)
                };
                hasThreadFenceSystem as u64
            });
        __bindgen_bitfield_unit
            .set_const::<
                13usize,
                1u8,
            >({
                let hasSyncThreadsExt: u32 = unsafe {
                    ::std::mem::transmute(hasSyncThreadsExt)
                };
                hasSyncThreadsExt as u64
            });
        __bindgen_bitfield_unit
            .set_const::<
                14usize,
                1u8,
            >({
                let hasSurfaceFuncs: u32 = unsafe {
                    ::std::mem::transmute(hasSurfaceFuncs)
                };
                hasSurfaceFuncs as u64
            });
        __bindgen_bitfield_unit
            .set_const::<
                15usize,
                1u8,
            >({
                let has3dGrid: u32 = unsafe { ::std::mem::transmute(has3dGrid) };
                has3dGrid as u64
            });
        __bindgen_bitfield_unit
            .set_const::<
                16usize,
                1u8,
            >({
                let hasDynamicParallelism: u32 = unsafe {
                    ::std::mem::transmute(hasDynamicParallelism)
                };
                hasDynamicParallelism as u64
            });
        __bindgen_bitfield_unit
    }
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hipUUID_t {
    pub bytes: [c_char; 16usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hipUUID_t"][::std::mem::size_of::<hipUUID_t>() - 16usize];
    ["Alignment of hipUUID_t"][::std::mem::align_of::<hipUUID_t>() - 1usize];
    [
        "Offset of field: hipUUID_t::bytes",
    ][::std::mem::offset_of!(hipUUID_t, bytes) - 0usize];
};
pub type hipUUID = hipUUID_t;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipDeviceProp_tR0600 {
    pub name: [c_char; 256usize],
    pub uuid: hipUUID,
    pub luid: [c_char; 8usize],
    pub luidDeviceNodeMask: c_uint,
    pub totalGlobalMem: usize,
    pub sharedMemPerBlock: usize,
    pub regsPerBlock: c_int,
    pub warpSize: c_int,
    pub memPitch: usize,
    pub maxThreadsPerBlock: c_int,
    pub maxThreadsDim: [c_int; 3usize],
    pub maxGridSize: [c_int; 3usize],
    pub clockRate: c_int,
    pub totalConstMem: usize,
    pub major: c_int,
    pub minor: c_int,
    pub textureAlignment: usize,
    pub texturePitchAlignment: usize,
    pub deviceOverlap: c_int,
    pub multiProcessorCount: c_int,
    pub kernelExecTimeoutEnabled: c_int,
    pub integrated: c_int,
    pub canMapHostMemory: c_int,
    pub computeMode: c_int,
    pub maxTexture1D: c_int,
    pub maxTexture1DMipmap: c_int,
    pub maxTexture1DLinear: c_int,
    pub maxTexture2D: [c_int; 2usize],
    pub maxTexture2DMipmap: [c_int; 2usize],
    pub maxTexture2DLinear: [c_int; 3usize],
    pub maxTexture2DGather: [c_int; 2usize],
    pub maxTexture3D: [c_int; 3usize],
    pub maxTexture3DAlt: [c_int; 3usize],
    pub maxTextureCubemap: c_int,
    pub maxTexture1DLayered: [c_int; 2usize],
    pub maxTexture2DLayered: [c_int; 3usize],
    pub maxTextureCubemapLayered: [c_int; 2usize],
    pub maxSurface1D: c_int,
    pub maxSurface2D: [c_int; 2usize],
    pub maxSurface3D: [c_int; 3usize],
    pub maxSurface1DLayered: [c_int; 2usize],
    pub maxSurface2DLayered: [c_int; 3usize],
    pub maxSurfaceCubemap: c_int,
    pub maxSurfaceCubemapLayered: [c_int; 2usize],
    pub surfaceAlignment: usize,
    pub concurrentKernels: c_int,
    pub ECCEnabled: c_int,
    pub pciBusID: c_int,
    pub pciDeviceID: c_int,
    pub pciDomainID: c_int,
    pub tccDriver: c_int,
    pub asyncEngineCount: c_int,
    pub unifiedAddressing: c_int,
    pub memoryClockRate: c_int,
    pub memoryBusWidth: c_int,
    pub l2CacheSize: c_int,
    pub persistingL2CacheMaxSize: c_int,
    pub maxThreadsPerMultiProcessor: c_int,
    pub streamPrioritiesSupported: c_int,
    pub globalL1CacheSupported: c_int,
    pub localL1CacheSupported: c_int,
    pub sharedMemPerMultiprocessor: usize,
    pub regsPerMultiprocessor: c_int,
    pub managedMemory: c_int,
    pub isMultiGpuBoard: c_int,
    pub multiGpuBoardGroupID: c_int,
    pub hostNativeAtomicSupported: c_int,
    pub singleToDoublePrecisionPerfRatio: c_int,
    pub pageableMemoryAccess: c_int,
    pub concurrentManagedAccess: c_int,
    pub computePreemptionSupported: c_int,
    pub canUseHostPointerForRegisteredMem: c_int,
    pub cooperativeLaunch: c_int,
    pub cooperativeMultiDeviceLaunch: c_int,
    pub sharedMemPerBlockOptin: usize,
    pub pageableMemoryAccessUsesHostPageTables: c_int,
    pub directManagedMemAccessFromHost: c_int,
    pub maxBlocksPerMultiProcessor: c_int,
    pub accessPolicyMaxWindowSize: c_int,
    pub reservedSharedMemPerBlock: usize,
    pub hostRegisterSupported: c_int,
    pub sparseHipArraySupported: c_int,
    pub hostRegisterReadOnlySupported: c_int,
    pub timelineSemaphoreInteropSupported: c_int,
    pub memoryPoolsSupported: c_int,
    pub gpuDirectRDMASupported: c_int,
    pub gpuDirectRDMAFlushWritesOptions: c_uint,
    pub gpuDirectRDMAWritesOrdering: c_int,
    pub memoryPoolSupportedHandleTypes: c_uint,
    pub deferredMappingHipArraySupported: c_int,
    pub ipcEventSupported: c_int,
    pub clusterLaunch: c_int,
    pub unifiedFunctionPointers: c_int,
    pub reserved: [c_int; 63usize],
    pub hipReserved: [c_int; 32usize],
    pub gcnArchName: [c_char; 256usize],
    pub maxSharedMemoryPerMultiProcessor: usize,
    pub clockInstructionRate: c_int,
    pub arch: hipDeviceArch_t,
    pub hdpMemFlushCntl: *mut c_uint,
    pub hdpRegFlushCntl: *mut c_uint,
    pub cooperativeMultiDeviceUnmatchedFunc: c_int,
    pub cooperativeMultiDeviceUnmatchedGridDim: c_int,
    pub cooperativeMultiDeviceUnmatchedBlockDim: c_int,
    pub cooperativeMultiDeviceUnmatchedSharedMem: c_int,
    pub isLargeBar: c_int,
    pub asicRevision: c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipDeviceProp_tR0600",
    ][::std::mem::size_of::<hipDeviceProp_tR0600>() - 1472usize];
    [
        "Alignment of hipDeviceProp_tR0600",
    ][::std::mem::align_of::<hipDeviceProp_tR0600>() - 8usize];
    [
        "Offset of field: hipDeviceProp_tR0600::name",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, name) - 0usize];
    [
        "Offset of field: hipDeviceProp_tR0600::uuid",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, uuid) - 256usize];
    [
        "Offset of field: hipDeviceProp_tR0600::luid",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, luid) - 272usize];
    [
        "Offset of field: hipDeviceProp_tR0600::luidDeviceNodeMask",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, luidDeviceNodeMask) - 280usize];
    [
        "Offset of field: hipDeviceProp_tR0600::totalGlobalMem",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, totalGlobalMem) - 288usize];
    [
        "Offset of field: hipDeviceProp_tR0600::sharedMemPerBlock",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, sharedMemPerBlock) - 296usize];
    [
        "Offset of field: hipDeviceProp_tR0600::regsPerBlock",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, regsPerBlock) - 304usize];
    [
        "Offset of field: hipDeviceProp_tR0600::warpSize",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, warpSize) - 308usize];
    [
        "Offset of field: hipDeviceProp_tR0600::memPitch",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, memPitch) - 312usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxThreadsPerBlock",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxThreadsPerBlock) - 320usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxThreadsDim",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxThreadsDim) - 324usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxGridSize",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxGridSize) - 336usize];
    [
        "Offset of field: hipDeviceProp_tR0600::clockRate",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, clockRate) - 348usize];
    [
        "Offset of field: hipDeviceProp_tR0600::totalConstMem",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, totalConstMem) - 352usize];
    [
        "Offset of field: hipDeviceProp_tR0600::major",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, major) - 360usize];
    [
        "Offset of field: hipDeviceProp_tR0600::minor",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, minor) - 364usize];
    [
        "Offset of field: hipDeviceProp_tR0600::textureAlignment",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, textureAlignment) - 368usize];
    [
        "Offset of field: hipDeviceProp_tR0600::texturePitchAlignment",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, texturePitchAlignment) - 376usize];
    [
        "Offset of field: hipDeviceProp_tR0600::deviceOverlap",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, deviceOverlap) - 384usize];
    [
        "Offset of field: hipDeviceProp_tR0600::multiProcessorCount",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, multiProcessorCount) - 388usize];
    [
        "Offset of field: hipDeviceProp_tR0600::kernelExecTimeoutEnabled",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, kernelExecTimeoutEnabled) - 392usize];
    [
        "Offset of field: hipDeviceProp_tR0600::integrated",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, integrated) - 396usize];
    [
        "Offset of field: hipDeviceProp_tR0600::canMapHostMemory",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, canMapHostMemory) - 400usize];
    [
        "Offset of field: hipDeviceProp_tR0600::computeMode",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, computeMode) - 404usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxTexture1D",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxTexture1D) - 408usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxTexture1DMipmap",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxTexture1DMipmap) - 412usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxTexture1DLinear",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxTexture1DLinear) - 416usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxTexture2D",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxTexture2D) - 420usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxTexture2DMipmap",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxTexture2DMipmap) - 428usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxTexture2DLinear",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxTexture2DLinear) - 436usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxTexture2DGather",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxTexture2DGather) - 448usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxTexture3D",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxTexture3D) - 456usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxTexture3DAlt",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxTexture3DAlt) - 468usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxTextureCubemap",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxTextureCubemap) - 480usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxTexture1DLayered",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxTexture1DLayered) - 484usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxTexture2DLayered",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxTexture2DLayered) - 492usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxTextureCubemapLayered",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxTextureCubemapLayered) - 504usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxSurface1D",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxSurface1D) - 512usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxSurface2D",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxSurface2D) - 516usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxSurface3D",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxSurface3D) - 524usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxSurface1DLayered",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxSurface1DLayered) - 536usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxSurface2DLayered",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxSurface2DLayered) - 544usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxSurfaceCubemap",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxSurfaceCubemap) - 556usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxSurfaceCubemapLayered",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxSurfaceCubemapLayered) - 560usize];
    [
        "Offset of field: hipDeviceProp_tR0600::surfaceAlignment",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, surfaceAlignment) - 568usize];
    [
        "Offset of field: hipDeviceProp_tR0600::concurrentKernels",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, concurrentKernels) - 576usize];
    [
        "Offset of field: hipDeviceProp_tR0600::ECCEnabled",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, ECCEnabled) - 580usize];
    [
        "Offset of field: hipDeviceProp_tR0600::pciBusID",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, pciBusID) - 584usize];
    [
        "Offset of field: hipDeviceProp_tR0600::pciDeviceID",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, pciDeviceID) - 588usize];
    [
        "Offset of field: hipDeviceProp_tR0600::pciDomainID",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, pciDomainID) - 592usize];
    [
        "Offset of field: hipDeviceProp_tR0600::tccDriver",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, tccDriver) - 596usize];
    [
        "Offset of field: hipDeviceProp_tR0600::asyncEngineCount",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, asyncEngineCount) - 600usize];
    [
        "Offset of field: hipDeviceProp_tR0600::unifiedAddressing",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, unifiedAddressing) - 604usize];
    [
        "Offset of field: hipDeviceProp_tR0600::memoryClockRate",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, memoryClockRate) - 608usize];
    [
        "Offset of field: hipDeviceProp_tR0600::memoryBusWidth",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, memoryBusWidth) - 612usize];
    [
        "Offset of field: hipDeviceProp_tR0600::l2CacheSize",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, l2CacheSize) - 616usize];
    [
        "Offset of field: hipDeviceProp_tR0600::persistingL2CacheMaxSize",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, persistingL2CacheMaxSize) - 620usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxThreadsPerMultiProcessor",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxThreadsPerMultiProcessor)
        - 624usize];
    [
        "Offset of field: hipDeviceProp_tR0600::streamPrioritiesSupported",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, streamPrioritiesSupported)
        - 628usize];
    [
        "Offset of field: hipDeviceProp_tR0600::globalL1CacheSupported",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, globalL1CacheSupported) - 632usize];
    [
        "Offset of field: hipDeviceProp_tR0600::localL1CacheSupported",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, localL1CacheSupported) - 636usize];
    [
        "Offset of field: hipDeviceProp_tR0600::sharedMemPerMultiprocessor",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, sharedMemPerMultiprocessor)
        - 640usize];
    [
        "Offset of field: hipDeviceProp_tR0600::regsPerMultiprocessor",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, regsPerMultiprocessor) - 648usize];
    [
        "Offset of field: hipDeviceProp_tR0600::managedMemory",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, managedMemory) - 652usize];
    [
        "Offset of field: hipDeviceProp_tR0600::isMultiGpuBoard",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, isMultiGpuBoard) - 656usize];
    [
        "Offset of field: hipDeviceProp_tR0600::multiGpuBoardGroupID",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, multiGpuBoardGroupID) - 660usize];
    [
        "Offset of field: hipDeviceProp_tR0600::hostNativeAtomicSupported",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, hostNativeAtomicSupported)
        - 664usize];
    [
        "Offset of field: hipDeviceProp_tR0600::singleToDoublePrecisionPerfRatio",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, singleToDoublePrecisionPerfRatio)
        - 668usize];
    [
        "Offset of field: hipDeviceProp_tR0600::pageableMemoryAccess",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, pageableMemoryAccess) - 672usize];
    [
        "Offset of field: hipDeviceProp_tR0600::concurrentManagedAccess",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, concurrentManagedAccess) - 676usize];
    [
        "Offset of field: hipDeviceProp_tR0600::computePreemptionSupported",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, computePreemptionSupported)
        - 680usize];
    [
        "Offset of field: hipDeviceProp_tR0600::canUseHostPointerForRegisteredMem",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, canUseHostPointerForRegisteredMem)
        - 684usize];
    [
        "Offset of field: hipDeviceProp_tR0600::cooperativeLaunch",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, cooperativeLaunch) - 688usize];
    [
        "Offset of field: hipDeviceProp_tR0600::cooperativeMultiDeviceLaunch",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, cooperativeMultiDeviceLaunch)
        - 692usize];
    [
        "Offset of field: hipDeviceProp_tR0600::sharedMemPerBlockOptin",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, sharedMemPerBlockOptin) - 696usize];
    [
        "Offset of field: hipDeviceProp_tR0600::pageableMemoryAccessUsesHostPageTables",
    ][::std::mem::offset_of!(
        hipDeviceProp_tR0600, pageableMemoryAccessUsesHostPageTables
    ) - 704usize];
    [
        "Offset of field: hipDeviceProp_tR0600::directManagedMemAccessFromHost",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, directManagedMemAccessFromHost)
        - 708usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxBlocksPerMultiProcessor",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxBlocksPerMultiProcessor)
        - 712usize];
    [
        "Offset of field: hipDeviceProp_tR0600::accessPolicyMaxWindowSize",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, accessPolicyMaxWindowSize)
        - 716usize];
    [
        "Offset of field: hipDeviceProp_tR0600::reservedSharedMemPerBlock",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, reservedSharedMemPerBlock)
        - 720usize];
    [
        "Offset of field: hipDeviceProp_tR0600::hostRegisterSupported",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, hostRegisterSupported) - 728usize];
    [
        "Offset of field: hipDeviceProp_tR0600::sparseHipArraySupported",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, sparseHipArraySupported) - 732usize];
    [
        "Offset of field: hipDeviceProp_tR0600::hostRegisterReadOnlySupported",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, hostRegisterReadOnlySupported)
        - 736usize];
    [
        "Offset of field: hipDeviceProp_tR0600::timelineSemaphoreInteropSupported",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, timelineSemaphoreInteropSupported)
        - 740usize];
    [
        "Offset of field: hipDeviceProp_tR0600::memoryPoolsSupported",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, memoryPoolsSupported) - 744usize];
    [
        "Offset of field: hipDeviceProp_tR0600::gpuDirectRDMASupported",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, gpuDirectRDMASupported) - 748usize];
    [
        "Offset of field: hipDeviceProp_tR0600::gpuDirectRDMAFlushWritesOptions",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, gpuDirectRDMAFlushWritesOptions)
        - 752usize];
    [
        "Offset of field: hipDeviceProp_tR0600::gpuDirectRDMAWritesOrdering",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, gpuDirectRDMAWritesOrdering)
        - 756usize];
    [
        "Offset of field: hipDeviceProp_tR0600::memoryPoolSupportedHandleTypes",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, memoryPoolSupportedHandleTypes)
        - 760usize];
    [
        "Offset of field: hipDeviceProp_tR0600::deferredMappingHipArraySupported",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, deferredMappingHipArraySupported)
        - 764usize];
    [
        "Offset of field: hipDeviceProp_tR0600::ipcEventSupported",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, ipcEventSupported) - 768usize];
    [
        "Offset of field: hipDeviceProp_tR0600::clusterLaunch",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, clusterLaunch) - 772usize];
    [
        "Offset of field: hipDeviceProp_tR0600::unifiedFunctionPointers",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, unifiedFunctionPointers) - 776usize];
    [
        "Offset of field: hipDeviceProp_tR0600::reserved",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, reserved) - 780usize];
    [
        "Offset of field: hipDeviceProp_tR0600::hipReserved",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, hipReserved) - 1032usize];
    [
        "Offset of field: hipDeviceProp_tR0600::gcnArchName",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, gcnArchName) - 1160usize];
    [
        "Offset of field: hipDeviceProp_tR0600::maxSharedMemoryPerMultiProcessor",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, maxSharedMemoryPerMultiProcessor)
        - 1416usize];
    [
        "Offset of field: hipDeviceProp_tR0600::clockInstructionRate",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, clockInstructionRate) - 1424usize];
    [
        "Offset of field: hipDeviceProp_tR0600::arch",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, arch) - 1428usize];
    [
        "Offset of field: hipDeviceProp_tR0600::hdpMemFlushCntl",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, hdpMemFlushCntl) - 1432usize];
    [
        "Offset of field: hipDeviceProp_tR0600::hdpRegFlushCntl",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, hdpRegFlushCntl) - 1440usize];
    [
        "Offset of field: hipDeviceProp_tR0600::cooperativeMultiDeviceUnmatchedFunc",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, cooperativeMultiDeviceUnmatchedFunc)
        - 1448usize];
    [
        "Offset of field: hipDeviceProp_tR0600::cooperativeMultiDeviceUnmatchedGridDim",
    ][::std::mem::offset_of!(
        hipDeviceProp_tR0600, cooperativeMultiDeviceUnmatchedGridDim
    ) - 1452usize];
    [
        "Offset of field: hipDeviceProp_tR0600::cooperativeMultiDeviceUnmatchedBlockDim",
    ][::std::mem::offset_of!(
        hipDeviceProp_tR0600, cooperativeMultiDeviceUnmatchedBlockDim
    ) - 1456usize];
    [
        "Offset of field: hipDeviceProp_tR0600::cooperativeMultiDeviceUnmatchedSharedMem",
    ][::std::mem::offset_of!(
        hipDeviceProp_tR0600, cooperativeMultiDeviceUnmatchedSharedMem
    ) - 1460usize];
    [
        "Offset of field: hipDeviceProp_tR0600::isLargeBar",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, isLargeBar) - 1464usize];
    [
        "Offset of field: hipDeviceProp_tR0600::asicRevision",
    ][::std::mem::offset_of!(hipDeviceProp_tR0600, asicRevision) - 1468usize];
};
impl Default for hipDeviceProp_tR0600 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl hipMemoryType {
    pub const hipMemoryTypeUnregistered: hipMemoryType = hipMemoryType(0);
    pub const hipMemoryTypeHost: hipMemoryType = hipMemoryType(1);
    pub const hipMemoryTypeDevice: hipMemoryType = hipMemoryType(2);
    pub const hipMemoryTypeManaged: hipMemoryType = hipMemoryType(3);
    pub const hipMemoryTypeArray: hipMemoryType = hipMemoryType(10);
    pub const hipMemoryTypeUnified: hipMemoryType = hipMemoryType(11);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipMemoryType(pub c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipPointerAttribute_t {
    pub type_: hipMemoryType,
    pub device: c_int,
    pub devicePointer: *mut c_void,
    pub hostPointer: *mut c_void,
    pub isManaged: c_int,
    pub allocationFlags: c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipPointerAttribute_t",
    ][::std::mem::size_of::<hipPointerAttribute_t>() - 32usize];
    [
        "Alignment of hipPointerAttribute_t",
    ][::std::mem::align_of::<hipPointerAttribute_t>() - 8usize];
    [
        "Offset of field: hipPointerAttribute_t::type_",
    ][::std::mem::offset_of!(hipPointerAttribute_t, type_) - 0usize];
    [
        "Offset of field: hipPointerAttribute_t::device",
    ][::std::mem::offset_of!(hipPointerAttribute_t, device) - 4usize];
    [
        "Offset of field: hipPointerAttribute_t::devicePointer",
    ][::std::mem::offset_of!(hipPointerAttribute_t, devicePointer) - 8usize];
    [
        "Offset of field: hipPointerAttribute_t::hostPointer",
    ][::std::mem::offset_of!(hipPointerAttribute_t, hostPointer) - 16usize];
    [
        "Offset of field: hipPointerAttribute_t::isManaged",
    ][::std::mem::offset_of!(hipPointerAttribute_t, isManaged) - 24usize];
    [
        "Offset of field: hipPointerAttribute_t::allocationFlags",
    ][::std::mem::offset_of!(hipPointerAttribute_t, allocationFlags) - 28usize];
};
impl Default for hipPointerAttribute_t {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl hipError_t {
    pub const hipSuccess: hipError_t = hipError_t(0);
    pub const hipErrorInvalidValue: hipError_t = hipError_t(1);
    pub const hipErrorOutOfMemory: hipError_t = hipError_t(2);
    pub const hipErrorMemoryAllocation: hipError_t = hipError_t(2);
    pub const hipErrorNotInitialized: hipError_t = hipError_t(3);
    pub const hipErrorInitializationError: hipError_t = hipError_t(3);
    pub const hipErrorDeinitialized: hipError_t = hipError_t(4);
    pub const hipErrorProfilerDisabled: hipError_t = hipError_t(5);
    pub const hipErrorProfilerNotInitialized: hipError_t = hipError_t(6);
    pub const hipErrorProfilerAlreadyStarted: hipError_t = hipError_t(7);
    pub const hipErrorProfilerAlreadyStopped: hipError_t = hipError_t(8);
    pub const hipErrorInvalidConfiguration: hipError_t = hipError_t(9);
    pub const hipErrorInvalidPitchValue: hipError_t = hipError_t(12);
    pub const hipErrorInvalidSymbol: hipError_t = hipError_t(13);
    pub const hipErrorInvalidDevicePointer: hipError_t = hipError_t(17);
    pub const hipErrorInvalidMemcpyDirection: hipError_t = hipError_t(21);
    pub const hipErrorInsufficientDriver: hipError_t = hipError_t(35);
    pub const hipErrorMissingConfiguration: hipError_t = hipError_t(52);
    pub const hipErrorPriorLaunchFailure: hipError_t = hipError_t(53);
    pub const hipErrorInvalidDeviceFunction: hipError_t = hipError_t(98);
    pub const hipErrorNoDevice: hipError_t = hipError_t(100);
    pub const hipErrorInvalidDevice: hipError_t = hipError_t(101);
    pub const hipErrorInvalidImage: hipError_t = hipError_t(200);
    pub const hipErrorInvalidContext: hipError_t = hipError_t(201);
    pub const hipErrorContextAlreadyCurrent: hipError_t = hipError_t(202);
    pub const hipErrorMapFailed: hipError_t = hipError_t(205);
    pub const hipErrorMapBufferObjectFailed: hipError_t = hipError_t(205);
    pub const hipErrorUnmapFailed: hipError_t = hipError_t(206);
    pub const hipErrorArrayIsMapped: hipError_t = hipError_t(207);
    pub const hipErrorAlreadyMapped: hipError_t = hipError_t(208);
    pub const hipErrorNoBinaryForGpu: hipError_t = hipError_t(209);
    pub const hipErrorAlreadyAcquired: hipError_t = hipError_t(210);
    pub const hipErrorNotMapped: hipError_t = hipError_t(211);
    pub const hipErrorNotMappedAsArray: hipError_t = hipError_t(212);
    pub const hipErrorNotMappedAsPointer: hipError_t = hipError_t(213);
    pub const hipErrorECCNotCorrectable: hipError_t = hipError_t(214);
    pub const hipErrorUnsupportedLimit: hipError_t = hipError_t(215);
    pub const hipErrorContextAlreadyInUse: hipError_t = hipError_t(216);
    pub const hipErrorPeerAccessUnsupported: hipError_t = hipError_t(217);
    pub const hipErrorInvalidKernelFile: hipError_t = hipError_t(218);
    pub const hipErrorInvalidGraphicsContext: hipError_t = hipError_t(219);
    pub const hipErrorInvalidSource: hipError_t = hipError_t(300);
    pub const hipErrorFileNotFound: hipError_t = hipError_t(301);
    pub const hipErrorSharedObjectSymbolNotFound: hipError_t = hipError_t(302);
    pub const hipErrorSharedObjectInitFailed: hipError_t = hipError_t(303);
    pub const hipErrorOperatingSystem: hipError_t = hipError_t(304);
    pub const hipErrorInvalidHandle: hipError_t = hipError_t(400);
    pub const hipErrorInvalidResourceHandle: hipError_t = hipError_t(400);
    pub const hipErrorIllegalState: hipError_t = hipError_t(401);
    pub const hipErrorNotFound: hipError_t = hipError_t(500);
    pub const hipErrorNotReady: hipError_t = hipError_t(600);
    pub const hipErrorIllegalAddress: hipError_t = hipError_t(700);
    pub const hipErrorLaunchOutOfResources: hipError_t = hipError_t(701);
    pub const hipErrorLaunchTimeOut: hipError_t = hipError_t(702);
    pub const hipErrorPeerAccessAlreadyEnabled: hipError_t = hipError_t(704);
    pub const hipErrorPeerAccessNotEnabled: hipError_t = hipError_t(705);
    pub const hipErrorSetOnActiveProcess: hipError_t = hipError_t(708);
    pub const hipErrorContextIsDestroyed: hipError_t = hipError_t(709);
    pub const hipErrorAssert: hipError_t = hipError_t(710);
    pub const hipErrorHostMemoryAlreadyRegistered: hipError_t = hipError_t(712);
    pub const hipErrorHostMemoryNotRegistered: hipError_t = hipError_t(713);
    pub const hipErrorLaunchFailure: hipError_t = hipError_t(719);
    pub const hipErrorCooperativeLaunchTooLarge: hipError_t = hipError_t(720);
    pub const hipErrorNotSupported: hipError_t = hipError_t(801);
    pub const hipErrorStreamCaptureUnsupported: hipError_t = hipError_t(900);
    pub const hipErrorStreamCaptureInvalidated: hipError_t = hipError_t(901);
    pub const hipErrorStreamCaptureMerge: hipError_t = hipError_t(902);
    pub const hipErrorStreamCaptureUnmatched: hipError_t = hipError_t(903);
    pub const hipErrorStreamCaptureUnjoined: hipError_t = hipError_t(904);
    pub const hipErrorStreamCaptureIsolation: hipError_t = hipError_t(905);
    pub const hipErrorStreamCaptureImplicit: hipError_t = hipError_t(906);
    pub const hipErrorCapturedEvent: hipError_t = hipError_t(907);
    pub const hipErrorStreamCaptureWrongThread: hipError_t = hipError_t(908);
    pub const hipErrorGraphExecUpdateFailure: hipError_t = hipError_t(910);
    pub const hipErrorInvalidChannelDescriptor: hipError_t = hipError_t(911);
    pub const hipErrorInvalidTexture: hipError_t = hipError_t(912);
    pub const hipErrorUnknown: hipError_t = hipError_t(999);
    pub const hipErrorRuntimeMemory: hipError_t = hipError_t(1052);
    pub const hipErrorRuntimeOther: hipError_t = hipError_t(1053);
    pub const hipErrorTbd: hipError_t = hipError_t(1054);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipError_t(pub c_uint);
impl hipDeviceAttribute_t {
    pub const hipDeviceAttributeCudaCompatibleBegin: hipDeviceAttribute_t = hipDeviceAttribute_t(
        0,
    );
    pub const hipDeviceAttributeEccEnabled: hipDeviceAttribute_t = hipDeviceAttribute_t(
        0,
    );
    pub const hipDeviceAttributeAccessPolicyMaxWindowSize: hipDeviceAttribute_t = hipDeviceAttribute_t(
        1,
    );
    pub const hipDeviceAttributeAsyncEngineCount: hipDeviceAttribute_t = hipDeviceAttribute_t(
        2,
    );
    pub const hipDeviceAttributeCanMapHostMemory: hipDeviceAttribute_t = hipDeviceAttribute_t(
        3,
    );
    pub const hipDeviceAttributeCanUseHostPointerForRegisteredMem: hipDeviceAttribute_t = hipDeviceAttribute_t(
        4,
    );
    pub const hipDeviceAttributeClockRate: hipDeviceAttribute_t = hipDeviceAttribute_t(
        5,
    );
    pub const hipDeviceAttributeComputeMode: hipDeviceAttribute_t = hipDeviceAttribute_t(
        6,
    );
    pub const hipDeviceAttributeComputePreemptionSupported: hipDeviceAttribute_t = hipDeviceAttribute_t(
        7,
    );
    pub const hipDeviceAttributeConcurrentKernels: hipDeviceAttribute_t = hipDeviceAttribute_t(
        8,
    );
    pub const hipDeviceAttributeConcurrentManagedAccess: hipDeviceAttribute_t = hipDeviceAttribute_t(
        9,
    );
    pub const hipDeviceAttributeCooperativeLaunch: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10,
    );
    pub const hipDeviceAttributeCooperativeMultiDeviceLaunch: hipDeviceAttribute_t = hipDeviceAttribute_t(
        11,
    );
    pub const hipDeviceAttributeDeviceOverlap: hipDeviceAttribute_t = hipDeviceAttribute_t(
        12,
    );
    pub const hipDeviceAttributeDirectManagedMemAccessFromHost: hipDeviceAttribute_t = hipDeviceAttribute_t(
        13,
    );
    pub const hipDeviceAttributeGlobalL1CacheSupported: hipDeviceAttribute_t = hipDeviceAttribute_t(
        14,
    );
    pub const hipDeviceAttributeHostNativeAtomicSupported: hipDeviceAttribute_t = hipDeviceAttribute_t(
        15,
    );
    pub const hipDeviceAttributeIntegrated: hipDeviceAttribute_t = hipDeviceAttribute_t(
        16,
    );
    pub const hipDeviceAttributeIsMultiGpuBoard: hipDeviceAttribute_t = hipDeviceAttribute_t(
        17,
    );
    pub const hipDeviceAttributeKernelExecTimeout: hipDeviceAttribute_t = hipDeviceAttribute_t(
        18,
    );
    pub const hipDeviceAttributeL2CacheSize: hipDeviceAttribute_t = hipDeviceAttribute_t(
        19,
    );
    pub const hipDeviceAttributeLocalL1CacheSupported: hipDeviceAttribute_t = hipDeviceAttribute_t(
        20,
    );
    pub const hipDeviceAttributeLuid: hipDeviceAttribute_t = hipDeviceAttribute_t(21);
    pub const hipDeviceAttributeLuidDeviceNodeMask: hipDeviceAttribute_t = hipDeviceAttribute_t(
        22,
    );
    pub const hipDeviceAttributeComputeCapabilityMajor: hipDeviceAttribute_t = hipDeviceAttribute_t(
        23,
    );
    pub const hipDeviceAttributeManagedMemory: hipDeviceAttribute_t = hipDeviceAttribute_t(
        24,
    );
    pub const hipDeviceAttributeMaxBlocksPerMultiProcessor: hipDeviceAttribute_t = hipDeviceAttribute_t(
        25,
    );
    pub const hipDeviceAttributeMaxBlockDimX: hipDeviceAttribute_t = hipDeviceAttribute_t(
        26,
    );
    pub const hipDeviceAttributeMaxBlockDimY: hipDeviceAttribute_t = hipDeviceAttribute_t(
        27,
    );
    pub const hipDeviceAttributeMaxBlockDimZ: hipDeviceAttribute_t = hipDeviceAttribute_t(
        28,
    );
    pub const hipDeviceAttributeMaxGridDimX: hipDeviceAttribute_t = hipDeviceAttribute_t(
        29,
    );
    pub const hipDeviceAttributeMaxGridDimY: hipDeviceAttribute_t = hipDeviceAttribute_t(
        30,
    );
    pub const hipDeviceAttributeMaxGridDimZ: hipDeviceAttribute_t = hipDeviceAttribute_t(
        31,
    );
    pub const hipDeviceAttributeMaxSurface1D: hipDeviceAttribute_t = hipDeviceAttribute_t(
        32,
    );
    pub const hipDeviceAttributeMaxSurface1DLayered: hipDeviceAttribute_t = hipDeviceAttribute_t(
        33,
    );
    pub const hipDeviceAttributeMaxSurface2D: hipDeviceAttribute_t = hipDeviceAttribute_t(
        34,
    );
    pub const hipDeviceAttributeMaxSurface2DLayered: hipDeviceAttribute_t = hipDeviceAttribute_t(
        35,
    );
    pub const hipDeviceAttributeMaxSurface3D: hipDeviceAttribute_t = hipDeviceAttribute_t(
        36,
    );
    pub const hipDeviceAttributeMaxSurfaceCubemap: hipDeviceAttribute_t = hipDeviceAttribute_t(
        37,
    );
    pub const hipDeviceAttributeMaxSurfaceCubemapLayered: hipDeviceAttribute_t = hipDeviceAttribute_t(
        38,
    );
    pub const hipDeviceAttributeMaxTexture1DWidth: hipDeviceAttribute_t = hipDeviceAttribute_t(
        39,
    );
    pub const hipDeviceAttributeMaxTexture1DLayered: hipDeviceAttribute_t = hipDeviceAttribute_t(
        40,
    );
    pub const hipDeviceAttributeMaxTexture1DLinear: hipDeviceAttribute_t = hipDeviceAttribute_t(
        41,
    );
    pub const hipDeviceAttributeMaxTexture1DMipmap: hipDeviceAttribute_t = hipDeviceAttribute_t(
        42,
    );
    pub const hipDeviceAttributeMaxTexture2DWidth: hipDeviceAttribute_t = hipDeviceAttribute_t(
        43,
    );
    pub const hipDeviceAttributeMaxTexture2DHeight: hipDeviceAttribute_t = hipDeviceAttribute_t(
        44,
    );
    pub const hipDeviceAttributeMaxTexture2DGather: hipDeviceAttribute_t = hipDeviceAttribute_t(
        45,
    );
    pub const hipDeviceAttributeMaxTexture2DLayered: hipDeviceAttribute_t = hipDeviceAttribute_t(
        46,
    );
    pub const hipDeviceAttributeMaxTexture2DLinear: hipDeviceAttribute_t = hipDeviceAttribute_t(
        47,
    );
    pub const hipDeviceAttributeMaxTexture2DMipmap: hipDeviceAttribute_t = hipDeviceAttribute_t(
        48,
    );
    pub const hipDeviceAttributeMaxTexture3DWidth: hipDeviceAttribute_t = hipDeviceAttribute_t(
        49,
    );
    pub const hipDeviceAttributeMaxTexture3DHeight: hipDeviceAttribute_t = hipDeviceAttribute_t(
        50,
    );
    pub const hipDeviceAttributeMaxTexture3DDepth: hipDeviceAttribute_t = hipDeviceAttribute_t(
        51,
    );
    pub const hipDeviceAttributeMaxTexture3DAlt: hipDeviceAttribute_t = hipDeviceAttribute_t(
        52,
    );
    pub const hipDeviceAttributeMaxTextureCubemap: hipDeviceAttribute_t = hipDeviceAttribute_t(
        53,
    );
    pub const hipDeviceAttributeMaxTextureCubemapLayered: hipDeviceAttribute_t = hipDeviceAttribute_t(
        54,
    );
    pub const hipDeviceAttributeMaxThreadsDim: hipDeviceAttribute_t = hipDeviceAttribute_t(
        55,
    );
    pub const hipDeviceAttributeMaxThreadsPerBlock: hipDeviceAttribute_t = hipDeviceAttribute_t(
        56,
    );
    pub const hipDeviceAttributeMaxThreadsPerMultiProcessor: hipDeviceAttribute_t = hipDeviceAttribute_t(
        57,
    );
    pub const hipDeviceAttributeMaxPitch: hipDeviceAttribute_t = hipDeviceAttribute_t(
        58,
    );
    pub const hipDeviceAttributeMemoryBusWidth: hipDeviceAttribute_t = hipDeviceAttribute_t(
        59,
    );
    pub const hipDeviceAttributeMemoryClockRate: hipDeviceAttribute_t = hipDeviceAttribute_t(
        60,
    );
    pub const hipDeviceAttributeComputeCapabilityMinor: hipDeviceAttribute_t = hipDeviceAttribute_t(
        61,
    );
    pub const hipDeviceAttributeMultiGpuBoardGroupID: hipDeviceAttribute_t = hipDeviceAttribute_t(
        62,
    );
    pub const hipDeviceAttributeMultiprocessorCount: hipDeviceAttribute_t = hipDeviceAttribute_t(
        63,
    );
    pub const hipDeviceAttributeUnused1: hipDeviceAttribute_t = hipDeviceAttribute_t(64);
    pub const hipDeviceAttributePageableMemoryAccess: hipDeviceAttribute_t = hipDeviceAttribute_t(
        65,
    );
    pub const hipDeviceAttributePageableMemoryAccessUsesHostPageTables: hipDeviceAttribute_t = hipDeviceAttribute_t(
        66,
    );
    pub const hipDeviceAttributePciBusId: hipDeviceAttribute_t = hipDeviceAttribute_t(
        67,
    );
    pub const hipDeviceAttributePciDeviceId: hipDeviceAttribute_t = hipDeviceAttribute_t(
        68,
    );
    pub const hipDeviceAttributePciDomainId: hipDeviceAttribute_t = hipDeviceAttribute_t(
        69,
    );
    pub const hipDeviceAttributePciDomainID: hipDeviceAttribute_t = hipDeviceAttribute_t(
        69,
    );
    pub const hipDeviceAttributePersistingL2CacheMaxSize: hipDeviceAttribute_t = hipDeviceAttribute_t(
        70,
    );
    pub const hipDeviceAttributeMaxRegistersPerBlock: hipDeviceAttribute_t = hipDeviceAttribute_t(
        71,
    );
    pub const hipDeviceAttributeMaxRegistersPerMultiprocessor: hipDeviceAttribute_t = hipDeviceAttribute_t(
        72,
    );
    pub const hipDeviceAttributeReservedSharedMemPerBlock: hipDeviceAttribute_t = hipDeviceAttribute_t(
        73,
    );
    pub const hipDeviceAttributeMaxSharedMemoryPerBlock: hipDeviceAttribute_t = hipDeviceAttribute_t(
        74,
    );
    pub const hipDeviceAttributeSharedMemPerBlockOptin: hipDeviceAttribute_t = hipDeviceAttribute_t(
        75,
    );
    pub const hipDeviceAttributeSharedMemPerMultiprocessor: hipDeviceAttribute_t = hipDeviceAttribute_t(
        76,
    );
    pub const hipDeviceAttributeSingleToDoublePrecisionPerfRatio: hipDeviceAttribute_t = hipDeviceAttribute_t(
        77,
    );
    pub const hipDeviceAttributeStreamPrioritiesSupported: hipDeviceAttribute_t = hipDeviceAttribute_t(
        78,
    );
    pub const hipDeviceAttributeSurfaceAlignment: hipDeviceAttribute_t = hipDeviceAttribute_t(
        79,
    );
    pub const hipDeviceAttributeTccDriver: hipDeviceAttribute_t = hipDeviceAttribute_t(
        80,
    );
    pub const hipDeviceAttributeTextureAlignment: hipDeviceAttribute_t = hipDeviceAttribute_t(
        81,
    );
    pub const hipDeviceAttributeTexturePitchAlignment: hipDeviceAttribute_t = hipDeviceAttribute_t(
        82,
    );
    pub const hipDeviceAttributeTotalConstantMemory: hipDeviceAttribute_t = hipDeviceAttribute_t(
        83,
    );
    pub const hipDeviceAttributeTotalGlobalMem: hipDeviceAttribute_t = hipDeviceAttribute_t(
        84,
    );
    pub const hipDeviceAttributeUnifiedAddressing: hipDeviceAttribute_t = hipDeviceAttribute_t(
        85,
    );
    pub const hipDeviceAttributeUnused2: hipDeviceAttribute_t = hipDeviceAttribute_t(86);
    pub const hipDeviceAttributeWarpSize: hipDeviceAttribute_t = hipDeviceAttribute_t(
        87,
    );
    pub const hipDeviceAttributeMemoryPoolsSupported: hipDeviceAttribute_t = hipDeviceAttribute_t(
        88,
    );
    pub const hipDeviceAttributeVirtualMemoryManagementSupported: hipDeviceAttribute_t = hipDeviceAttribute_t(
        89,
    );
    pub const hipDeviceAttributeHostRegisterSupported: hipDeviceAttribute_t = hipDeviceAttribute_t(
        90,
    );
    pub const hipDeviceAttributeMemoryPoolSupportedHandleTypes: hipDeviceAttribute_t = hipDeviceAttribute_t(
        91,
    );
    pub const hipDeviceAttributeCudaCompatibleEnd: hipDeviceAttribute_t = hipDeviceAttribute_t(
        9999,
    );
    pub const hipDeviceAttributeAmdSpecificBegin: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10000,
    );
    pub const hipDeviceAttributeClockInstructionRate: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10000,
    );
    pub const hipDeviceAttributeUnused3: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10001,
    );
    pub const hipDeviceAttributeMaxSharedMemoryPerMultiprocessor: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10002,
    );
    pub const hipDeviceAttributeUnused4: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10003,
    );
    pub const hipDeviceAttributeUnused5: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10004,
    );
    pub const hipDeviceAttributeHdpMemFlushCntl: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10005,
    );
    pub const hipDeviceAttributeHdpRegFlushCntl: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10006,
    );
    pub const hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10007,
    );
    pub const hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10008,
    );
    pub const hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10009,
    );
    pub const hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10010,
    );
    pub const hipDeviceAttributeIsLargeBar: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10011,
    );
    pub const hipDeviceAttributeAsicRevision: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10012,
    );
    pub const hipDeviceAttributeCanUseStreamWaitValue: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10013,
    );
    pub const hipDeviceAttributeImageSupport: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10014,
    );
    pub const hipDeviceAttributePhysicalMultiProcessorCount: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10015,
    );
    pub const hipDeviceAttributeFineGrainSupport: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10016,
    );
    pub const hipDeviceAttributeWallClockRate: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10017,
    );
    pub const hipDeviceAttributeNumberOfXccs: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10018,
    );
    pub const hipDeviceAttributeMaxAvailableVgprsPerThread: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10019,
    );
    pub const hipDeviceAttributePciChipId: hipDeviceAttribute_t = hipDeviceAttribute_t(
        10020,
    );
    pub const hipDeviceAttributeAmdSpecificEnd: hipDeviceAttribute_t = hipDeviceAttribute_t(
        19999,
    );
    pub const hipDeviceAttributeVendorSpecificBegin: hipDeviceAttribute_t = hipDeviceAttribute_t(
        20000,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipDeviceAttribute_t(pub c_uint);
impl hipDriverProcAddressQueryResult {
    pub const HIP_GET_PROC_ADDRESS_SUCCESS: hipDriverProcAddressQueryResult = hipDriverProcAddressQueryResult(
        0,
    );
    pub const HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND: hipDriverProcAddressQueryResult = hipDriverProcAddressQueryResult(
        1,
    );
    pub const HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT: hipDriverProcAddressQueryResult = hipDriverProcAddressQueryResult(
        2,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipDriverProcAddressQueryResult(pub c_uint);
pub type hipDeviceptr_t = *mut c_void;
impl hipChannelFormatKind {
    pub const hipChannelFormatKindSigned: hipChannelFormatKind = hipChannelFormatKind(0);
    pub const hipChannelFormatKindUnsigned: hipChannelFormatKind = hipChannelFormatKind(
        1,
    );
    pub const hipChannelFormatKindFloat: hipChannelFormatKind = hipChannelFormatKind(2);
    pub const hipChannelFormatKindNone: hipChannelFormatKind = hipChannelFormatKind(3);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipChannelFormatKind(pub c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipChannelFormatDesc {
    pub x: c_int,
    pub y: c_int,
    pub z: c_int,
    pub w: c_int,
    pub f: hipChannelFormatKind,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipChannelFormatDesc",
    ][::std::mem::size_of::<hipChannelFormatDesc>() - 20usize];
    [
        "Alignment of hipChannelFormatDesc",
    ][::std::mem::align_of::<hipChannelFormatDesc>() - 4usize];
    [
        "Offset of field: hipChannelFormatDesc::x",
    ][::std::mem::offset_of!(hipChannelFormatDesc, x) - 0usize];
    [
        "Offset of field: hipChannelFormatDesc::y",
    ][::std::mem::offset_of!(hipChannelFormatDesc, y) - 4usize];
    [
        "Offset of field: hipChannelFormatDesc::z",
    ][::std::mem::offset_of!(hipChannelFormatDesc, z) - 8usize];
    [
        "Offset of field: hipChannelFormatDesc::w",
    ][::std::mem::offset_of!(hipChannelFormatDesc, w) - 12usize];
    [
        "Offset of field: hipChannelFormatDesc::f",
    ][::std::mem::offset_of!(hipChannelFormatDesc, f) - 16usize];
};
impl Default for hipChannelFormatDesc {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug)]
pub struct hipArray {
    _unused: [u8; 0],
}
pub type hipArray_t = *mut hipArray;
impl hipArray_Format {
    pub const HIP_AD_FORMAT_UNSIGNED_INT8: hipArray_Format = hipArray_Format(1);
    pub const HIP_AD_FORMAT_UNSIGNED_INT16: hipArray_Format = hipArray_Format(2);
    pub const HIP_AD_FORMAT_UNSIGNED_INT32: hipArray_Format = hipArray_Format(3);
    pub const HIP_AD_FORMAT_SIGNED_INT8: hipArray_Format = hipArray_Format(8);
    pub const HIP_AD_FORMAT_SIGNED_INT16: hipArray_Format = hipArray_Format(9);
    pub const HIP_AD_FORMAT_SIGNED_INT32: hipArray_Format = hipArray_Format(10);
    pub const HIP_AD_FORMAT_HALF: hipArray_Format = hipArray_Format(16);
    pub const HIP_AD_FORMAT_FLOAT: hipArray_Format = hipArray_Format(32);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipArray_Format(pub c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipMipmappedArray {
    pub data: *mut c_void,
    pub desc: hipChannelFormatDesc,
    pub type_: c_uint,
    pub width: c_uint,
    pub height: c_uint,
    pub depth: c_uint,
    pub min_mipmap_level: c_uint,
    pub max_mipmap_level: c_uint,
    pub flags: c_uint,
    pub format: hipArray_Format,
    pub num_channels: c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hipMipmappedArray"][::std::mem::size_of::<hipMipmappedArray>() - 64usize];
    [
        "Alignment of hipMipmappedArray",
    ][::std::mem::align_of::<hipMipmappedArray>() - 8usize];
    [
        "Offset of field: hipMipmappedArray::data",
    ][::std::mem::offset_of!(hipMipmappedArray, data) - 0usize];
    [
        "Offset of field: hipMipmappedArray::desc",
    ][::std::mem::offset_of!(hipMipmappedArray, desc) - 8usize];
    [
        "Offset of field: hipMipmappedArray::type_",
    ][::std::mem::offset_of!(hipMipmappedArray, type_) - 28usize];
    [
        "Offset of field: hipMipmappedArray::width",
    ][::std::mem::offset_of!(hipMipmappedArray, width) - 32usize];
    [
        "Offset of field: hipMipmappedArray::height",
    ][::std::mem::offset_of!(hipMipmappedArray, height) - 36usize];
    [
        "Offset of field: hipMipmappedArray::depth",
    ][::std::mem::offset_of!(hipMipmappedArray, depth) - 40usize];
    [
        "Offset of field: hipMipmappedArray::min_mipmap_level",
    ][::std::mem::offset_of!(hipMipmappedArray, min_mipmap_level) - 44usize];
    [
        "Offset of field: hipMipmappedArray::max_mipmap_level",
    ][::std::mem::offset_of!(hipMipmappedArray, max_mipmap_level) - 48usize];
    [
        "Offset of field: hipMipmappedArray::flags",
    ][::std::mem::offset_of!(hipMipmappedArray, flags) - 52usize];
    [
        "Offset of field: hipMipmappedArray::format",
    ][::std::mem::offset_of!(hipMipmappedArray, format) - 56usize];
    [
        "Offset of field: hipMipmappedArray::num_channels",
    ][::std::mem::offset_of!(hipMipmappedArray, num_channels) - 60usize];
};
impl Default for hipMipmappedArray {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type hipMipmappedArray_t = *mut hipMipmappedArray;
impl hipResourceType {
    pub const hipResourceTypeArray: hipResourceType = hipResourceType(0);
    pub const hipResourceTypeMipmappedArray: hipResourceType = hipResourceType(1);
    pub const hipResourceTypeLinear: hipResourceType = hipResourceType(2);
    pub const hipResourceTypePitch2D: hipResourceType = hipResourceType(3);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipResourceType(pub c_uint);
impl hipResourceViewFormat {
    pub const hipResViewFormatNone: hipResourceViewFormat = hipResourceViewFormat(0);
    pub const hipResViewFormatUnsignedChar1: hipResourceViewFormat = hipResourceViewFormat(
        1,
    );
    pub const hipResViewFormatUnsignedChar2: hipResourceViewFormat = hipResourceViewFormat(
        2,
    );
    pub const hipResViewFormatUnsignedChar4: hipResourceViewFormat = hipResourceViewFormat(
        3,
    );
    pub const hipResViewFormatSignedChar1: hipResourceViewFormat = hipResourceViewFormat(
        4,
    );
    pub const hipResViewFormatSignedChar2: hipResourceViewFormat = hipResourceViewFormat(
        5,
    );
    pub const hipResViewFormatSignedChar4: hipResourceViewFormat = hipResourceViewFormat(
        6,
    );
    pub const hipResViewFormatUnsignedShort1: hipResourceViewFormat = hipResourceViewFormat(
        7,
    );
    pub const hipResViewFormatUnsignedShort2: hipResourceViewFormat = hipResourceViewFormat(
        8,
    );
    pub const hipResViewFormatUnsignedShort4: hipResourceViewFormat = hipResourceViewFormat(
        9,
    );
    pub const hipResViewFormatSignedShort1: hipResourceViewFormat = hipResourceViewFormat(
        10,
    );
    pub const hipResViewFormatSignedShort2: hipResourceViewFormat = hipResourceViewFormat(
        11,
    );
    pub const hipResViewFormatSignedShort4: hipResourceViewFormat = hipResourceViewFormat(
        12,
    );
    pub const hipResViewFormatUnsignedInt1: hipResourceViewFormat = hipResourceViewFormat(
        13,
    );
    pub const hipResViewFormatUnsignedInt2: hipResourceViewFormat = hipResourceViewFormat(
        14,
    );
    pub const hipResViewFormatUnsignedInt4: hipResourceViewFormat = hipResourceViewFormat(
        15,
    );
    pub const hipResViewFormatSignedInt1: hipResourceViewFormat = hipResourceViewFormat(
        16,
    );
    pub const hipResViewFormatSignedInt2: hipResourceViewFormat = hipResourceViewFormat(
        17,
    );
    pub const hipResViewFormatSignedInt4: hipResourceViewFormat = hipResourceViewFormat(
        18,
    );
    pub const hipResViewFormatHalf1: hipResourceViewFormat = hipResourceViewFormat(19);
    pub const hipResViewFormatHalf2: hipResourceViewFormat = hipResourceViewFormat(20);
    pub const hipResViewFormatHalf4: hipResourceViewFormat = hipResourceViewFormat(21);
    pub const hipResViewFormatFloat1: hipResourceViewFormat = hipResourceViewFormat(22);
    pub const hipResViewFormatFloat2: hipResourceViewFormat = hipResourceViewFormat(23);
    pub const hipResViewFormatFloat4: hipResourceViewFormat = hipResourceViewFormat(24);
    pub const hipResViewFormatUnsignedBlockCompressed1: hipResourceViewFormat = hipResourceViewFormat(
        25,
    );
    pub const hipResViewFormatUnsignedBlockCompressed2: hipResourceViewFormat = hipResourceViewFormat(
        26,
    );
    pub const hipResViewFormatUnsignedBlockCompressed3: hipResourceViewFormat = hipResourceViewFormat(
        27,
    );
    pub const hipResViewFormatUnsignedBlockCompressed4: hipResourceViewFormat = hipResourceViewFormat(
        28,
    );
    pub const hipResViewFormatSignedBlockCompressed4: hipResourceViewFormat = hipResourceViewFormat(
        29,
    );
    pub const hipResViewFormatUnsignedBlockCompressed5: hipResourceViewFormat = hipResourceViewFormat(
        30,
    );
    pub const hipResViewFormatSignedBlockCompressed5: hipResourceViewFormat = hipResourceViewFormat(
        31,
    );
    pub const hipResViewFormatUnsignedBlockCompressed6H: hipResourceViewFormat = hipResourceViewFormat(
        32,
    );
    pub const hipResViewFormatSignedBlockCompressed6H: hipResourceViewFormat = hipResourceViewFormat(
        33,
    );
    pub const hipResViewFormatUnsignedBlockCompressed7: hipResourceViewFormat = hipResourceViewFormat(
        34,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipResourceViewFormat(pub c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct hipResourceDesc {
    pub resType: hipResourceType,
    pub res: hipResourceDesc__bindgen_ty_1,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union hipResourceDesc__bindgen_ty_1 {
    pub array: hipResourceDesc__bindgen_ty_1__bindgen_ty_1,
    pub mipmap: hipResourceDesc__bindgen_ty_1__bindgen_ty_2,
    pub linear: hipResourceDesc__bindgen_ty_1__bindgen_ty_3,
    pub pitch2D: hipResourceDesc__bindgen_ty_1__bindgen_ty_4,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipResourceDesc__bindgen_ty_1__bindgen_ty_1 {
    pub array: hipArray_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipResourceDesc__bindgen_ty_1__bindgen_ty_1",
    ][::std::mem::size_of::<hipResourceDesc__bindgen_ty_1__bindgen_ty_1>() - 8usize];
    [
        "Alignment of hipResourceDesc__bindgen_ty_1__bindgen_ty_1",
    ][::std::mem::align_of::<hipResourceDesc__bindgen_ty_1__bindgen_ty_1>() - 8usize];
    [
        "Offset of field: hipResourceDesc__bindgen_ty_1__bindgen_ty_1::array",
    ][::std::mem::offset_of!(hipResourceDesc__bindgen_ty_1__bindgen_ty_1, array)
        - 0usize];
};
impl Default for hipResourceDesc__bindgen_ty_1__bindgen_ty_1 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipResourceDesc__bindgen_ty_1__bindgen_ty_2 {
    pub mipmap: hipMipmappedArray_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipResourceDesc__bindgen_ty_1__bindgen_ty_2",
    ][::std::mem::size_of::<hipResourceDesc__bindgen_ty_1__bindgen_ty_2>() - 8usize];
    [
        "Alignment of hipResourceDesc__bindgen_ty_1__bindgen_ty_2",
    ][::std::mem::align_of::<hipResourceDesc__bindgen_ty_1__bindgen_ty_2>() - 8usize];
    [
        "Offset of field: hipResourceDesc__bindgen_ty_1__bindgen_ty_2::mipmap",
    ][::std::mem::offset_of!(hipResourceDesc__bindgen_ty_1__bindgen_ty_2, mipmap)
        - 0usize];
};
impl Default for hipResourceDesc__bindgen_ty_1__bindgen_ty_2 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipResourceDesc__bindgen_ty_1__bindgen_ty_3 {
    pub devPtr: *mut c_void,
    pub desc: hipChannelFormatDesc,
    pub sizeInBytes: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipResourceDesc__bindgen_ty_1__bindgen_ty_3",
    ][::std::mem::size_of::<hipResourceDesc__bindgen_ty_1__bindgen_ty_3>() - 40usize];
    [
        "Alignment of hipResourceDesc__bindgen_ty_1__bindgen_ty_3",
    ][::std::mem::align_of::<hipResourceDesc__bindgen_ty_1__bindgen_ty_3>() - 8usize];
    [
        "Offset of field: hipResourceDesc__bindgen_ty_1__bindgen_ty_3::devPtr",
    ][::std::mem::offset_of!(hipResourceDesc__bindgen_ty_1__bindgen_ty_3, devPtr)
        - 0usize];
    [
        "Offset of field: hipResourceDesc__bindgen_ty_1__bindgen_ty_3::desc",
    ][::std::mem::offset_of!(hipResourceDesc__bindgen_ty_1__bindgen_ty_3, desc)
        - 8usize];
    [
        "Offset of field: hipResourceDesc__bindgen_ty_1__bindgen_ty_3::sizeInBytes",
    ][::std::mem::offset_of!(hipResourceDesc__bindgen_ty_1__bindgen_ty_3, sizeInBytes)
        - 32usize];
};
impl Default for hipResourceDesc__bindgen_ty_1__bindgen_ty_3 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipResourceDesc__bindgen_ty_1__bindgen_ty_4 {
    pub devPtr: *mut c_void,
    pub desc: hipChannelFormatDesc,
    pub width: usize,
    pub height: usize,
    pub pitchInBytes: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipResourceDesc__bindgen_ty_1__bindgen_ty_4",
    ][::std::mem::size_of::<hipResourceDesc__bindgen_ty_1__bindgen_ty_4>() - 56usize];
    [
        "Alignment of hipResourceDesc__bindgen_ty_1__bindgen_ty_4",
    ][::std::mem::align_of::<hipResourceDesc__bindgen_ty_1__bindgen_ty_4>() - 8usize];
    [
        "Offset of field: hipResourceDesc__bindgen_ty_1__bindgen_ty_4::devPtr",
    ][::std::mem::offset_of!(hipResourceDesc__bindgen_ty_1__bindgen_ty_4, devPtr)
        - 0usize];
    [
        "Offset of field: hipResourceDesc__bindgen_ty_1__bindgen_ty_4::desc",
    ][::std::mem::offset_of!(hipResourceDesc__bindgen_ty_1__bindgen_ty_4, desc)
        - 8usize];
    [
        "Offset of field: hipResourceDesc__bindgen_ty_1__bindgen_ty_4::width",
    ][::std::mem::offset_of!(hipResourceDesc__bindgen_ty_1__bindgen_ty_4, width)
        - 32usize];
    [
        "Offset of field: hipResourceDesc__bindgen_ty_1__bindgen_ty_4::height",
    ][::std::mem::offset_of!(hipResourceDesc__bindgen_ty_1__bindgen_ty_4, height)
        - 40usize];
    [
        "Offset of field: hipResourceDesc__bindgen_ty_1__bindgen_ty_4::pitchInBytes",
    ][::std::mem::offset_of!(hipResourceDesc__bindgen_ty_1__bindgen_ty_4, pitchInBytes)
        - 48usize];
};
impl Default for hipResourceDesc__bindgen_ty_1__bindgen_ty_4 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipResourceDesc__bindgen_ty_1",
    ][::std::mem::size_of::<hipResourceDesc__bindgen_ty_1>() - 56usize];
    [
        "Alignment of hipResourceDesc__bindgen_ty_1",
    ][::std::mem::align_of::<hipResourceDesc__bindgen_ty_1>() - 8usize];
    [
        "Offset of field: hipResourceDesc__bindgen_ty_1::array",
    ][::std::mem::offset_of!(hipResourceDesc__bindgen_ty_1, array) - 0usize];
    [
        "Offset of field: hipResourceDesc__bindgen_ty_1::mipmap",
    ][::std::mem::offset_of!(hipResourceDesc__bindgen_ty_1, mipmap) - 0usize];
    [
        "Offset of field: hipResourceDesc__bindgen_ty_1::linear",
    ][::std::mem::offset_of!(hipResourceDesc__bindgen_ty_1, linear) - 0usize];
    [
        "Offset of field: hipResourceDesc__bindgen_ty_1::pitch2D",
    ][::std::mem::offset_of!(hipResourceDesc__bindgen_ty_1, pitch2D) - 0usize];
};
impl Default for hipResourceDesc__bindgen_ty_1 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipResourceDesc__bindgen_ty_1 {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(f, "hipResourceDesc__bindgen_ty_1 {{ union }}")
    }
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hipResourceDesc"][::std::mem::size_of::<hipResourceDesc>() - 64usize];
    ["Alignment of hipResourceDesc"][::std::mem::align_of::<hipResourceDesc>() - 8usize];
    [
        "Offset of field: hipResourceDesc::resType",
    ][::std::mem::offset_of!(hipResourceDesc, resType) - 0usize];
    [
        "Offset of field: hipResourceDesc::res",
    ][::std::mem::offset_of!(hipResourceDesc, res) - 8usize];
};
impl Default for hipResourceDesc {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipResourceDesc {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(
            f, "hipResourceDesc {{ resType: {:?}, res: {:?} }}", self.resType, self.res
        )
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipResourceViewDesc {
    pub format: hipResourceViewFormat,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub firstMipmapLevel: c_uint,
    pub lastMipmapLevel: c_uint,
    pub firstLayer: c_uint,
    pub lastLayer: c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipResourceViewDesc",
    ][::std::mem::size_of::<hipResourceViewDesc>() - 48usize];
    [
        "Alignment of hipResourceViewDesc",
    ][::std::mem::align_of::<hipResourceViewDesc>() - 8usize];
    [
        "Offset of field: hipResourceViewDesc::format",
    ][::std::mem::offset_of!(hipResourceViewDesc, format) - 0usize];
    [
        "Offset of field: hipResourceViewDesc::width",
    ][::std::mem::offset_of!(hipResourceViewDesc, width) - 8usize];
    [
        "Offset of field: hipResourceViewDesc::height",
    ][::std::mem::offset_of!(hipResourceViewDesc, height) - 16usize];
    [
        "Offset of field: hipResourceViewDesc::depth",
    ][::std::mem::offset_of!(hipResourceViewDesc, depth) - 24usize];
    [
        "Offset of field: hipResourceViewDesc::firstMipmapLevel",
    ][::std::mem::offset_of!(hipResourceViewDesc, firstMipmapLevel) - 32usize];
    [
        "Offset of field: hipResourceViewDesc::lastMipmapLevel",
    ][::std::mem::offset_of!(hipResourceViewDesc, lastMipmapLevel) - 36usize];
    [
        "Offset of field: hipResourceViewDesc::firstLayer",
    ][::std::mem::offset_of!(hipResourceViewDesc, firstLayer) - 40usize];
    [
        "Offset of field: hipResourceViewDesc::lastLayer",
    ][::std::mem::offset_of!(hipResourceViewDesc, lastLayer) - 44usize];
};
impl Default for hipResourceViewDesc {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl hipMemcpyKind {
    pub const hipMemcpyHostToHost: hipMemcpyKind = hipMemcpyKind(0);
    pub const hipMemcpyHostToDevice: hipMemcpyKind = hipMemcpyKind(1);
    pub const hipMemcpyDeviceToHost: hipMemcpyKind = hipMemcpyKind(2);
    pub const hipMemcpyDeviceToDevice: hipMemcpyKind = hipMemcpyKind(3);
    pub const hipMemcpyDefault: hipMemcpyKind = hipMemcpyKind(4);
    pub const hipMemcpyDeviceToDeviceNoCU: hipMemcpyKind = hipMemcpyKind(1024);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipMemcpyKind(pub c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipPitchedPtr {
    pub ptr: *mut c_void,
    pub pitch: usize,
    pub xsize: usize,
    pub ysize: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hipPitchedPtr"][::std::mem::size_of::<hipPitchedPtr>() - 32usize];
    ["Alignment of hipPitchedPtr"][::std::mem::align_of::<hipPitchedPtr>() - 8usize];
    [
        "Offset of field: hipPitchedPtr::ptr",
    ][::std::mem::offset_of!(hipPitchedPtr, ptr) - 0usize];
    [
        "Offset of field: hipPitchedPtr::pitch",
    ][::std::mem::offset_of!(hipPitchedPtr, pitch) - 8usize];
    [
        "Offset of field: hipPitchedPtr::xsize",
    ][::std::mem::offset_of!(hipPitchedPtr, xsize) - 16usize];
    [
        "Offset of field: hipPitchedPtr::ysize",
    ][::std::mem::offset_of!(hipPitchedPtr, ysize) - 24usize];
};
impl Default for hipPitchedPtr {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hipExtent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hipExtent"][::std::mem::size_of::<hipExtent>() - 24usize];
    ["Alignment of hipExtent"][::std::mem::align_of::<hipExtent>() - 8usize];
    [
        "Offset of field: hipExtent::width",
    ][::std::mem::offset_of!(hipExtent, width) - 0usize];
    [
        "Offset of field: hipExtent::height",
    ][::std::mem::offset_of!(hipExtent, height) - 8usize];
    [
        "Offset of field: hipExtent::depth",
    ][::std::mem::offset_of!(hipExtent, depth) - 16usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hipPos {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hipPos"][::std::mem::size_of::<hipPos>() - 24usize];
    ["Alignment of hipPos"][::std::mem::align_of::<hipPos>() - 8usize];
    ["Offset of field: hipPos::x"][::std::mem::offset_of!(hipPos, x) - 0usize];
    ["Offset of field: hipPos::y"][::std::mem::offset_of!(hipPos, y) - 8usize];
    ["Offset of field: hipPos::z"][::std::mem::offset_of!(hipPos, z) - 16usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipMemcpy3DParms {
    pub srcArray: hipArray_t,
    pub srcPos: hipPos,
    pub srcPtr: hipPitchedPtr,
    pub dstArray: hipArray_t,
    pub dstPos: hipPos,
    pub dstPtr: hipPitchedPtr,
    pub extent: hipExtent,
    pub kind: hipMemcpyKind,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hipMemcpy3DParms"][::std::mem::size_of::<hipMemcpy3DParms>() - 160usize];
    [
        "Alignment of hipMemcpy3DParms",
    ][::std::mem::align_of::<hipMemcpy3DParms>() - 8usize];
    [
        "Offset of field: hipMemcpy3DParms::srcArray",
    ][::std::mem::offset_of!(hipMemcpy3DParms, srcArray) - 0usize];
    [
        "Offset of field: hipMemcpy3DParms::srcPos",
    ][::std::mem::offset_of!(hipMemcpy3DParms, srcPos) - 8usize];
    [
        "Offset of field: hipMemcpy3DParms::srcPtr",
    ][::std::mem::offset_of!(hipMemcpy3DParms, srcPtr) - 32usize];
    [
        "Offset of field: hipMemcpy3DParms::dstArray",
    ][::std::mem::offset_of!(hipMemcpy3DParms, dstArray) - 64usize];
    [
        "Offset of field: hipMemcpy3DParms::dstPos",
    ][::std::mem::offset_of!(hipMemcpy3DParms, dstPos) - 72usize];
    [
        "Offset of field: hipMemcpy3DParms::dstPtr",
    ][::std::mem::offset_of!(hipMemcpy3DParms, dstPtr) - 96usize];
    [
        "Offset of field: hipMemcpy3DParms::extent",
    ][::std::mem::offset_of!(hipMemcpy3DParms, extent) - 128usize];
    [
        "Offset of field: hipMemcpy3DParms::kind",
    ][::std::mem::offset_of!(hipMemcpy3DParms, kind) - 152usize];
};
impl Default for hipMemcpy3DParms {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct HIP_MEMCPY3D {
    pub srcXInBytes: usize,
    pub srcY: usize,
    pub srcZ: usize,
    pub srcLOD: usize,
    pub srcMemoryType: hipMemoryType,
    pub srcHost: *const c_void,
    pub srcDevice: hipDeviceptr_t,
    pub srcArray: hipArray_t,
    pub srcPitch: usize,
    pub srcHeight: usize,
    pub dstXInBytes: usize,
    pub dstY: usize,
    pub dstZ: usize,
    pub dstLOD: usize,
    pub dstMemoryType: hipMemoryType,
    pub dstHost: *mut c_void,
    pub dstDevice: hipDeviceptr_t,
    pub dstArray: hipArray_t,
    pub dstPitch: usize,
    pub dstHeight: usize,
    pub WidthInBytes: usize,
    pub Height: usize,
    pub Depth: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of HIP_MEMCPY3D"][::std::mem::size_of::<HIP_MEMCPY3D>() - 184usize];
    ["Alignment of HIP_MEMCPY3D"][::std::mem::align_of::<HIP_MEMCPY3D>() - 8usize];
    [
        "Offset of field: HIP_MEMCPY3D::srcXInBytes",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, srcXInBytes) - 0usize];
    [
        "Offset of field: HIP_MEMCPY3D::srcY",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, srcY) - 8usize];
    [
        "Offset of field: HIP_MEMCPY3D::srcZ",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, srcZ) - 16usize];
    [
        "Offset of field: HIP_MEMCPY3D::srcLOD",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, srcLOD) - 24usize];
    [
        "Offset of field: HIP_MEMCPY3D::srcMemoryType",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, srcMemoryType) - 32usize];
    [
        "Offset of field: HIP_MEMCPY3D::srcHost",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, srcHost) - 40usize];
    [
        "Offset of field: HIP_MEMCPY3D::srcDevice",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, srcDevice) - 48usize];
    [
        "Offset of field: HIP_MEMCPY3D::srcArray",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, srcArray) - 56usize];
    [
        "Offset of field: HIP_MEMCPY3D::srcPitch",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, srcPitch) - 64usize];
    [
        "Offset of field: HIP_MEMCPY3D::srcHeight",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, srcHeight) - 72usize];
    [
        "Offset of field: HIP_MEMCPY3D::dstXInBytes",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, dstXInBytes) - 80usize];
    [
        "Offset of field: HIP_MEMCPY3D::dstY",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, dstY) - 88usize];
    [
        "Offset of field: HIP_MEMCPY3D::dstZ",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, dstZ) - 96usize];
    [
        "Offset of field: HIP_MEMCPY3D::dstLOD",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, dstLOD) - 104usize];
    [
        "Offset of field: HIP_MEMCPY3D::dstMemoryType",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, dstMemoryType) - 112usize];
    [
        "Offset of field: HIP_MEMCPY3D::dstHost",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, dstHost) - 120usize];
    [
        "Offset of field: HIP_MEMCPY3D::dstDevice",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, dstDevice) - 128usize];
    [
        "Offset of field: HIP_MEMCPY3D::dstArray",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, dstArray) - 136usize];
    [
        "Offset of field: HIP_MEMCPY3D::dstPitch",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, dstPitch) - 144usize];
    [
        "Offset of field: HIP_MEMCPY3D::dstHeight",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, dstHeight) - 152usize];
    [
        "Offset of field: HIP_MEMCPY3D::WidthInBytes",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, WidthInBytes) - 160usize];
    [
        "Offset of field: HIP_MEMCPY3D::Height",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, Height) - 168usize];
    [
        "Offset of field: HIP_MEMCPY3D::Depth",
    ][::std::mem::offset_of!(HIP_MEMCPY3D, Depth) - 176usize];
};
impl Default for HIP_MEMCPY3D {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl hipMemLocationType {
    pub const hipMemLocationTypeInvalid: hipMemLocationType = hipMemLocationType(0);
    pub const hipMemLocationTypeNone: hipMemLocationType = hipMemLocationType(0);
    pub const hipMemLocationTypeDevice: hipMemLocationType = hipMemLocationType(1);
    pub const hipMemLocationTypeHost: hipMemLocationType = hipMemLocationType(2);
    pub const hipMemLocationTypeHostNuma: hipMemLocationType = hipMemLocationType(3);
    pub const hipMemLocationTypeHostNumaCurrent: hipMemLocationType = hipMemLocationType(
        4,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipMemLocationType(pub c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipMemLocation {
    pub type_: hipMemLocationType,
    pub id: c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hipMemLocation"][::std::mem::size_of::<hipMemLocation>() - 8usize];
    ["Alignment of hipMemLocation"][::std::mem::align_of::<hipMemLocation>() - 4usize];
    [
        "Offset of field: hipMemLocation::type_",
    ][::std::mem::offset_of!(hipMemLocation, type_) - 0usize];
    [
        "Offset of field: hipMemLocation::id",
    ][::std::mem::offset_of!(hipMemLocation, id) - 4usize];
};
impl Default for hipMemLocation {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl hipMemcpySrcAccessOrder {
    pub const hipMemcpySrcAccessOrderInvalid: hipMemcpySrcAccessOrder = hipMemcpySrcAccessOrder(
        0,
    );
    pub const hipMemcpySrcAccessOrderStream: hipMemcpySrcAccessOrder = hipMemcpySrcAccessOrder(
        1,
    );
    pub const hipMemcpySrcAccessOrderDuringApiCall: hipMemcpySrcAccessOrder = hipMemcpySrcAccessOrder(
        2,
    );
    pub const hipMemcpySrcAccessOrderAny: hipMemcpySrcAccessOrder = hipMemcpySrcAccessOrder(
        3,
    );
    pub const hipMemcpySrcAccessOrderMax: hipMemcpySrcAccessOrder = hipMemcpySrcAccessOrder(
        2147483647,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipMemcpySrcAccessOrder(pub c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipMemcpyAttributes {
    pub srcAccessOrder: hipMemcpySrcAccessOrder,
    pub srcLocHint: hipMemLocation,
    pub dstLocHint: hipMemLocation,
    pub flags: c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipMemcpyAttributes",
    ][::std::mem::size_of::<hipMemcpyAttributes>() - 24usize];
    [
        "Alignment of hipMemcpyAttributes",
    ][::std::mem::align_of::<hipMemcpyAttributes>() - 4usize];
    [
        "Offset of field: hipMemcpyAttributes::srcAccessOrder",
    ][::std::mem::offset_of!(hipMemcpyAttributes, srcAccessOrder) - 0usize];
    [
        "Offset of field: hipMemcpyAttributes::srcLocHint",
    ][::std::mem::offset_of!(hipMemcpyAttributes, srcLocHint) - 4usize];
    [
        "Offset of field: hipMemcpyAttributes::dstLocHint",
    ][::std::mem::offset_of!(hipMemcpyAttributes, dstLocHint) - 12usize];
    [
        "Offset of field: hipMemcpyAttributes::flags",
    ][::std::mem::offset_of!(hipMemcpyAttributes, flags) - 20usize];
};
impl Default for hipMemcpyAttributes {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl hipMemcpy3DOperandType {
    pub const hipMemcpyOperandTypePointer: hipMemcpy3DOperandType = hipMemcpy3DOperandType(
        1,
    );
    pub const hipMemcpyOperandTypeArray: hipMemcpy3DOperandType = hipMemcpy3DOperandType(
        2,
    );
    pub const hipMemcpyOperandTypeMax: hipMemcpy3DOperandType = hipMemcpy3DOperandType(
        2147483647,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipMemcpy3DOperandType(pub c_uint);
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hipOffset3D {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hipOffset3D"][::std::mem::size_of::<hipOffset3D>() - 24usize];
    ["Alignment of hipOffset3D"][::std::mem::align_of::<hipOffset3D>() - 8usize];
    ["Offset of field: hipOffset3D::x"][::std::mem::offset_of!(hipOffset3D, x) - 0usize];
    ["Offset of field: hipOffset3D::y"][::std::mem::offset_of!(hipOffset3D, y) - 8usize];
    [
        "Offset of field: hipOffset3D::z",
    ][::std::mem::offset_of!(hipOffset3D, z) - 16usize];
};
#[repr(C)]
#[derive(Copy, Clone)]
pub struct hipMemcpy3DOperand {
    pub type_: hipMemcpy3DOperandType,
    pub op: hipMemcpy3DOperand__bindgen_ty_1,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union hipMemcpy3DOperand__bindgen_ty_1 {
    pub ptr: hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_1,
    pub array: hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_2,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_1 {
    pub ptr: *mut c_void,
    pub rowLength: usize,
    pub layerHeight: usize,
    pub locHint: hipMemLocation,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_1",
    ][::std::mem::size_of::<hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_1>() - 32usize];
    [
        "Alignment of hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_1",
    ][::std::mem::align_of::<hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_1>() - 8usize];
    [
        "Offset of field: hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_1::ptr",
    ][::std::mem::offset_of!(hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_1, ptr)
        - 0usize];
    [
        "Offset of field: hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_1::rowLength",
    ][::std::mem::offset_of!(hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_1, rowLength)
        - 8usize];
    [
        "Offset of field: hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_1::layerHeight",
    ][::std::mem::offset_of!(hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_1, layerHeight)
        - 16usize];
    [
        "Offset of field: hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_1::locHint",
    ][::std::mem::offset_of!(hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_1, locHint)
        - 24usize];
};
impl Default for hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_1 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_2 {
    pub array: hipArray_t,
    pub offset: hipOffset3D,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_2",
    ][::std::mem::size_of::<hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_2>() - 32usize];
    [
        "Alignment of hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_2",
    ][::std::mem::align_of::<hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_2>() - 8usize];
    [
        "Offset of field: hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_2::array",
    ][::std::mem::offset_of!(hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_2, array)
        - 0usize];
    [
        "Offset of field: hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_2::offset",
    ][::std::mem::offset_of!(hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_2, offset)
        - 8usize];
};
impl Default for hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_2 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipMemcpy3DOperand__bindgen_ty_1",
    ][::std::mem::size_of::<hipMemcpy3DOperand__bindgen_ty_1>() - 32usize];
    [
        "Alignment of hipMemcpy3DOperand__bindgen_ty_1",
    ][::std::mem::align_of::<hipMemcpy3DOperand__bindgen_ty_1>() - 8usize];
    [
        "Offset of field: hipMemcpy3DOperand__bindgen_ty_1::ptr",
    ][::std::mem::offset_of!(hipMemcpy3DOperand__bindgen_ty_1, ptr) - 0usize];
    [
        "Offset of field: hipMemcpy3DOperand__bindgen_ty_1::array",
    ][::std::mem::offset_of!(hipMemcpy3DOperand__bindgen_ty_1, array) - 0usize];
};
impl Default for hipMemcpy3DOperand__bindgen_ty_1 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipMemcpy3DOperand__bindgen_ty_1 {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(f, "hipMemcpy3DOperand__bindgen_ty_1 {{ union }}")
    }
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipMemcpy3DOperand",
    ][::std::mem::size_of::<hipMemcpy3DOperand>() - 40usize];
    [
        "Alignment of hipMemcpy3DOperand",
    ][::std::mem::align_of::<hipMemcpy3DOperand>() - 8usize];
    [
        "Offset of field: hipMemcpy3DOperand::type_",
    ][::std::mem::offset_of!(hipMemcpy3DOperand, type_) - 0usize];
    [
        "Offset of field: hipMemcpy3DOperand::op",
    ][::std::mem::offset_of!(hipMemcpy3DOperand, op) - 8usize];
};
impl Default for hipMemcpy3DOperand {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipMemcpy3DOperand {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(f, "hipMemcpy3DOperand {{ type: {:?}, op: {:?} }}", self.type_, self.op)
    }
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct hipMemcpy3DBatchOp {
    pub src: hipMemcpy3DOperand,
    pub dst: hipMemcpy3DOperand,
    pub extent: hipExtent,
    pub srcAccessOrder: hipMemcpySrcAccessOrder,
    pub flags: c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipMemcpy3DBatchOp",
    ][::std::mem::size_of::<hipMemcpy3DBatchOp>() - 112usize];
    [
        "Alignment of hipMemcpy3DBatchOp",
    ][::std::mem::align_of::<hipMemcpy3DBatchOp>() - 8usize];
    [
        "Offset of field: hipMemcpy3DBatchOp::src",
    ][::std::mem::offset_of!(hipMemcpy3DBatchOp, src) - 0usize];
    [
        "Offset of field: hipMemcpy3DBatchOp::dst",
    ][::std::mem::offset_of!(hipMemcpy3DBatchOp, dst) - 40usize];
    [
        "Offset of field: hipMemcpy3DBatchOp::extent",
    ][::std::mem::offset_of!(hipMemcpy3DBatchOp, extent) - 80usize];
    [
        "Offset of field: hipMemcpy3DBatchOp::srcAccessOrder",
    ][::std::mem::offset_of!(hipMemcpy3DBatchOp, srcAccessOrder) - 104usize];
    [
        "Offset of field: hipMemcpy3DBatchOp::flags",
    ][::std::mem::offset_of!(hipMemcpy3DBatchOp, flags) - 108usize];
};
impl Default for hipMemcpy3DBatchOp {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipMemcpy3DBatchOp {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(
            f,
            "hipMemcpy3DBatchOp {{ src: {:?}, dst: {:?}, extent: {:?}, srcAccessOrder: {:?}, flags: {:?} }}",
            self.src, self.dst, self.extent, self.srcAccessOrder, self.flags
        )
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipMemcpy3DPeerParms {
    pub srcArray: hipArray_t,
    pub srcPos: hipPos,
    pub srcPtr: hipPitchedPtr,
    pub srcDevice: c_int,
    pub dstArray: hipArray_t,
    pub dstPos: hipPos,
    pub dstPtr: hipPitchedPtr,
    pub dstDevice: c_int,
    pub extent: hipExtent,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipMemcpy3DPeerParms",
    ][::std::mem::size_of::<hipMemcpy3DPeerParms>() - 168usize];
    [
        "Alignment of hipMemcpy3DPeerParms",
    ][::std::mem::align_of::<hipMemcpy3DPeerParms>() - 8usize];
    [
        "Offset of field: hipMemcpy3DPeerParms::srcArray",
    ][::std::mem::offset_of!(hipMemcpy3DPeerParms, srcArray) - 0usize];
    [
        "Offset of field: hipMemcpy3DPeerParms::srcPos",
    ][::std::mem::offset_of!(hipMemcpy3DPeerParms, srcPos) - 8usize];
    [
        "Offset of field: hipMemcpy3DPeerParms::srcPtr",
    ][::std::mem::offset_of!(hipMemcpy3DPeerParms, srcPtr) - 32usize];
    [
        "Offset of field: hipMemcpy3DPeerParms::srcDevice",
    ][::std::mem::offset_of!(hipMemcpy3DPeerParms, srcDevice) - 64usize];
    [
        "Offset of field: hipMemcpy3DPeerParms::dstArray",
    ][::std::mem::offset_of!(hipMemcpy3DPeerParms, dstArray) - 72usize];
    [
        "Offset of field: hipMemcpy3DPeerParms::dstPos",
    ][::std::mem::offset_of!(hipMemcpy3DPeerParms, dstPos) - 80usize];
    [
        "Offset of field: hipMemcpy3DPeerParms::dstPtr",
    ][::std::mem::offset_of!(hipMemcpy3DPeerParms, dstPtr) - 104usize];
    [
        "Offset of field: hipMemcpy3DPeerParms::dstDevice",
    ][::std::mem::offset_of!(hipMemcpy3DPeerParms, dstDevice) - 136usize];
    [
        "Offset of field: hipMemcpy3DPeerParms::extent",
    ][::std::mem::offset_of!(hipMemcpy3DPeerParms, extent) - 144usize];
};
impl Default for hipMemcpy3DPeerParms {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl hipFunction_attribute {
    pub const HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: hipFunction_attribute = hipFunction_attribute(
        0,
    );
    pub const HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: hipFunction_attribute = hipFunction_attribute(
        1,
    );
    pub const HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: hipFunction_attribute = hipFunction_attribute(
        2,
    );
    pub const HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: hipFunction_attribute = hipFunction_attribute(
        3,
    );
    pub const HIP_FUNC_ATTRIBUTE_NUM_REGS: hipFunction_attribute = hipFunction_attribute(
        4,
    );
    pub const HIP_FUNC_ATTRIBUTE_PTX_VERSION: hipFunction_attribute = hipFunction_attribute(
        5,
    );
    pub const HIP_FUNC_ATTRIBUTE_BINARY_VERSION: hipFunction_attribute = hipFunction_attribute(
        6,
    );
    pub const HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA: hipFunction_attribute = hipFunction_attribute(
        7,
    );
    pub const HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: hipFunction_attribute = hipFunction_attribute(
        8,
    );
    pub const HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: hipFunction_attribute = hipFunction_attribute(
        9,
    );
    pub const HIP_FUNC_ATTRIBUTE_MAX: hipFunction_attribute = hipFunction_attribute(10);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipFunction_attribute(pub c_uint);
impl hipPointer_attribute {
    pub const HIP_POINTER_ATTRIBUTE_CONTEXT: hipPointer_attribute = hipPointer_attribute(
        1,
    );
    pub const HIP_POINTER_ATTRIBUTE_MEMORY_TYPE: hipPointer_attribute = hipPointer_attribute(
        2,
    );
    pub const HIP_POINTER_ATTRIBUTE_DEVICE_POINTER: hipPointer_attribute = hipPointer_attribute(
        3,
    );
    pub const HIP_POINTER_ATTRIBUTE_HOST_POINTER: hipPointer_attribute = hipPointer_attribute(
        4,
    );
    pub const HIP_POINTER_ATTRIBUTE_P2P_TOKENS: hipPointer_attribute = hipPointer_attribute(
        5,
    );
    pub const HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS: hipPointer_attribute = hipPointer_attribute(
        6,
    );
    pub const HIP_POINTER_ATTRIBUTE_BUFFER_ID: hipPointer_attribute = hipPointer_attribute(
        7,
    );
    pub const HIP_POINTER_ATTRIBUTE_IS_MANAGED: hipPointer_attribute = hipPointer_attribute(
        8,
    );
    pub const HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: hipPointer_attribute = hipPointer_attribute(
        9,
    );
    pub const HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE: hipPointer_attribute = hipPointer_attribute(
        10,
    );
    pub const HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR: hipPointer_attribute = hipPointer_attribute(
        11,
    );
    pub const HIP_POINTER_ATTRIBUTE_RANGE_SIZE: hipPointer_attribute = hipPointer_attribute(
        12,
    );
    pub const HIP_POINTER_ATTRIBUTE_MAPPED: hipPointer_attribute = hipPointer_attribute(
        13,
    );
    pub const HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: hipPointer_attribute = hipPointer_attribute(
        14,
    );
    pub const HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: hipPointer_attribute = hipPointer_attribute(
        15,
    );
    pub const HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS: hipPointer_attribute = hipPointer_attribute(
        16,
    );
    pub const HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: hipPointer_attribute = hipPointer_attribute(
        17,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipPointer_attribute(pub c_uint);
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct uint3 {
    pub x: c_uint,
    pub y: c_uint,
    pub z: c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of uint3"][::std::mem::size_of::<uint3>() - 12usize];
    ["Alignment of uint3"][::std::mem::align_of::<uint3>() - 4usize];
    ["Offset of field: uint3::x"][::std::mem::offset_of!(uint3, x) - 0usize];
    ["Offset of field: uint3::y"][::std::mem::offset_of!(uint3, y) - 4usize];
    ["Offset of field: uint3::z"][::std::mem::offset_of!(uint3, z) - 8usize];
};
#[repr(C)]
#[derive(Debug)]
pub struct __hip_texture {
    _unused: [u8; 0],
}
pub type hipTextureObject_t = *mut __hip_texture;
impl hipTextureAddressMode {
    pub const hipAddressModeWrap: hipTextureAddressMode = hipTextureAddressMode(0);
    pub const hipAddressModeClamp: hipTextureAddressMode = hipTextureAddressMode(1);
    pub const hipAddressModeMirror: hipTextureAddressMode = hipTextureAddressMode(2);
    pub const hipAddressModeBorder: hipTextureAddressMode = hipTextureAddressMode(3);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipTextureAddressMode(pub c_uint);
impl hipTextureFilterMode {
    pub const hipFilterModePoint: hipTextureFilterMode = hipTextureFilterMode(0);
    pub const hipFilterModeLinear: hipTextureFilterMode = hipTextureFilterMode(1);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipTextureFilterMode(pub c_uint);
impl hipTextureReadMode {
    pub const hipReadModeElementType: hipTextureReadMode = hipTextureReadMode(0);
    pub const hipReadModeNormalizedFloat: hipTextureReadMode = hipTextureReadMode(1);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipTextureReadMode(pub c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipTextureDesc {
    pub addressMode: [hipTextureAddressMode; 3usize],
    pub filterMode: hipTextureFilterMode,
    pub readMode: hipTextureReadMode,
    pub sRGB: c_int,
    pub borderColor: [f32; 4usize],
    pub normalizedCoords: c_int,
    pub maxAnisotropy: c_uint,
    pub mipmapFilterMode: hipTextureFilterMode,
    pub mipmapLevelBias: f32,
    pub minMipmapLevelClamp: f32,
    pub maxMipmapLevelClamp: f32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hipTextureDesc"][::std::mem::size_of::<hipTextureDesc>() - 64usize];
    ["Alignment of hipTextureDesc"][::std::mem::align_of::<hipTextureDesc>() - 4usize];
    [
        "Offset of field: hipTextureDesc::addressMode",
    ][::std::mem::offset_of!(hipTextureDesc, addressMode) - 0usize];
    [
        "Offset of field: hipTextureDesc::filterMode",
    ][::std::mem::offset_of!(hipTextureDesc, filterMode) - 12usize];
    [
        "Offset of field: hipTextureDesc::readMode",
    ][::std::mem::offset_of!(hipTextureDesc, readMode) - 16usize];
    [
        "Offset of field: hipTextureDesc::sRGB",
    ][::std::mem::offset_of!(hipTextureDesc, sRGB) - 20usize];
    [
        "Offset of field: hipTextureDesc::borderColor",
    ][::std::mem::offset_of!(hipTextureDesc, borderColor) - 24usize];
    [
        "Offset of field: hipTextureDesc::normalizedCoords",
    ][::std::mem::offset_of!(hipTextureDesc, normalizedCoords) - 40usize];
    [
        "Offset of field: hipTextureDesc::maxAnisotropy",
    ][::std::mem::offset_of!(hipTextureDesc, maxAnisotropy) - 44usize];
    [
        "Offset of field: hipTextureDesc::mipmapFilterMode",
    ][::std::mem::offset_of!(hipTextureDesc, mipmapFilterMode) - 48usize];
    [
        "Offset of field: hipTextureDesc::mipmapLevelBias",
    ][::std::mem::offset_of!(hipTextureDesc, mipmapLevelBias) - 52usize];
    [
        "Offset of field: hipTextureDesc::minMipmapLevelClamp",
    ][::std::mem::offset_of!(hipTextureDesc, minMipmapLevelClamp) - 56usize];
    [
        "Offset of field: hipTextureDesc::maxMipmapLevelClamp",
    ][::std::mem::offset_of!(hipTextureDesc, maxMipmapLevelClamp) - 60usize];
};
impl Default for hipTextureDesc {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug)]
pub struct __hip_surface {
    _unused: [u8; 0],
}
pub type hipSurfaceObject_t = *mut __hip_surface;
#[repr(C)]
#[derive(Debug)]
pub struct ihipCtx_t {
    _unused: [u8; 0],
}
pub type hipCtx_t = *mut ihipCtx_t;
pub type hipDevice_t = c_int;
impl hipDeviceP2PAttr {
    pub const hipDevP2PAttrPerformanceRank: hipDeviceP2PAttr = hipDeviceP2PAttr(0);
    pub const hipDevP2PAttrAccessSupported: hipDeviceP2PAttr = hipDeviceP2PAttr(1);
    pub const hipDevP2PAttrNativeAtomicSupported: hipDeviceP2PAttr = hipDeviceP2PAttr(2);
    pub const hipDevP2PAttrHipArrayAccessSupported: hipDeviceP2PAttr = hipDeviceP2PAttr(
        3,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipDeviceP2PAttr(pub c_uint);
#[repr(C)]
#[derive(Debug)]
pub struct ihipStream_t {
    _unused: [u8; 0],
}
pub type hipStream_t = *mut ihipStream_t;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipIpcMemHandle_st {
    pub reserved: [c_char; 64usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipIpcMemHandle_st",
    ][::std::mem::size_of::<hipIpcMemHandle_st>() - 64usize];
    [
        "Alignment of hipIpcMemHandle_st",
    ][::std::mem::align_of::<hipIpcMemHandle_st>() - 1usize];
    [
        "Offset of field: hipIpcMemHandle_st::reserved",
    ][::std::mem::offset_of!(hipIpcMemHandle_st, reserved) - 0usize];
};
impl Default for hipIpcMemHandle_st {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type hipIpcMemHandle_t = hipIpcMemHandle_st;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipIpcEventHandle_st {
    pub reserved: [c_char; 64usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipIpcEventHandle_st",
    ][::std::mem::size_of::<hipIpcEventHandle_st>() - 64usize];
    [
        "Alignment of hipIpcEventHandle_st",
    ][::std::mem::align_of::<hipIpcEventHandle_st>() - 1usize];
    [
        "Offset of field: hipIpcEventHandle_st::reserved",
    ][::std::mem::offset_of!(hipIpcEventHandle_st, reserved) - 0usize];
};
impl Default for hipIpcEventHandle_st {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type hipIpcEventHandle_t = hipIpcEventHandle_st;
#[repr(C)]
#[derive(Debug)]
pub struct ihipModule_t {
    _unused: [u8; 0],
}
pub type hipModule_t = *mut ihipModule_t;
#[repr(C)]
#[derive(Debug)]
pub struct ihipModuleSymbol_t {
    _unused: [u8; 0],
}
pub type hipFunction_t = *mut ihipModuleSymbol_t;
#[repr(C)]
#[derive(Debug)]
pub struct ihipLibrary_t {
    _unused: [u8; 0],
}
pub type hipLibrary_t = *mut ihipLibrary_t;
#[repr(C)]
#[derive(Debug)]
pub struct ihipKernel_t {
    _unused: [u8; 0],
}
pub type hipKernel_t = *mut ihipKernel_t;
#[repr(C)]
#[derive(Debug)]
pub struct ihipMemPoolHandle_t {
    _unused: [u8; 0],
}
pub type hipMemPool_t = *mut ihipMemPoolHandle_t;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hipFuncAttributes {
    pub binaryVersion: c_int,
    pub cacheModeCA: c_int,
    pub constSizeBytes: usize,
    pub localSizeBytes: usize,
    pub maxDynamicSharedSizeBytes: c_int,
    pub maxThreadsPerBlock: c_int,
    pub numRegs: c_int,
    pub preferredShmemCarveout: c_int,
    pub ptxVersion: c_int,
    pub sharedSizeBytes: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hipFuncAttributes"][::std::mem::size_of::<hipFuncAttributes>() - 56usize];
    [
        "Alignment of hipFuncAttributes",
    ][::std::mem::align_of::<hipFuncAttributes>() - 8usize];
    [
        "Offset of field: hipFuncAttributes::binaryVersion",
    ][::std::mem::offset_of!(hipFuncAttributes, binaryVersion) - 0usize];
    [
        "Offset of field: hipFuncAttributes::cacheModeCA",
    ][::std::mem::offset_of!(hipFuncAttributes, cacheModeCA) - 4usize];
    [
        "Offset of field: hipFuncAttributes::constSizeBytes",
    ][::std::mem::offset_of!(hipFuncAttributes, constSizeBytes) - 8usize];
    [
        "Offset of field: hipFuncAttributes::localSizeBytes",
    ][::std::mem::offset_of!(hipFuncAttributes, localSizeBytes) - 16usize];
    [
        "Offset of field: hipFuncAttributes::maxDynamicSharedSizeBytes",
    ][::std::mem::offset_of!(hipFuncAttributes, maxDynamicSharedSizeBytes) - 24usize];
    [
        "Offset of field: hipFuncAttributes::maxThreadsPerBlock",
    ][::std::mem::offset_of!(hipFuncAttributes, maxThreadsPerBlock) - 28usize];
    [
        "Offset of field: hipFuncAttributes::numRegs",
    ][::std::mem::offset_of!(hipFuncAttributes, numRegs) - 32usize];
    [
        "Offset of field: hipFuncAttributes::preferredShmemCarveout",
    ][::std::mem::offset_of!(hipFuncAttributes, preferredShmemCarveout) - 36usize];
    [
        "Offset of field: hipFuncAttributes::ptxVersion",
    ][::std::mem::offset_of!(hipFuncAttributes, ptxVersion) - 40usize];
    [
        "Offset of field: hipFuncAttributes::sharedSizeBytes",
    ][::std::mem::offset_of!(hipFuncAttributes, sharedSizeBytes) - 48usize];
};
#[repr(C)]
#[derive(Debug)]
pub struct ihipEvent_t {
    _unused: [u8; 0],
}
pub type hipEvent_t = *mut ihipEvent_t;
impl hipLimit_t {
    pub const hipLimitStackSize: hipLimit_t = hipLimit_t(0);
    pub const hipLimitPrintfFifoSize: hipLimit_t = hipLimit_t(1);
    pub const hipLimitMallocHeapSize: hipLimit_t = hipLimit_t(2);
    pub const hipExtLimitScratchMin: hipLimit_t = hipLimit_t(4096);
    pub const hipExtLimitScratchMax: hipLimit_t = hipLimit_t(4097);
    pub const hipExtLimitScratchCurrent: hipLimit_t = hipLimit_t(4098);
    pub const hipLimitRange: hipLimit_t = hipLimit_t(4099);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipLimit_t(pub c_uint);
impl hipStreamBatchMemOpType {
    pub const hipStreamMemOpWaitValue32: hipStreamBatchMemOpType = hipStreamBatchMemOpType(
        1,
    );
    pub const hipStreamMemOpWriteValue32: hipStreamBatchMemOpType = hipStreamBatchMemOpType(
        2,
    );
    pub const hipStreamMemOpWaitValue64: hipStreamBatchMemOpType = hipStreamBatchMemOpType(
        4,
    );
    pub const hipStreamMemOpWriteValue64: hipStreamBatchMemOpType = hipStreamBatchMemOpType(
        5,
    );
    pub const hipStreamMemOpBarrier: hipStreamBatchMemOpType = hipStreamBatchMemOpType(
        6,
    );
    pub const hipStreamMemOpFlushRemoteWrites: hipStreamBatchMemOpType = hipStreamBatchMemOpType(
        3,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipStreamBatchMemOpType(pub c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub union hipStreamBatchMemOpParams_union {
    pub operation: hipStreamBatchMemOpType,
    pub waitValue: hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t,
    pub writeValue: hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t,
    pub flushRemoteWrites: hipStreamBatchMemOpParams_union_hipStreamMemOpFlushRemoteWritesParams_t,
    pub memoryBarrier: hipStreamBatchMemOpParams_union_hipStreamMemOpMemoryBarrierParams_t,
    pub pad: [u64; 6usize],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t {
    pub operation: hipStreamBatchMemOpType,
    pub address: hipDeviceptr_t,
    pub __bindgen_anon_1: hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t__bindgen_ty_1,
    pub flags: c_uint,
    pub alias: hipDeviceptr_t,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t__bindgen_ty_1 {
    pub value: u32,
    pub value64: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t__bindgen_ty_1",
    ][::std::mem::size_of::<
        hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t__bindgen_ty_1,
    >() - 8usize];
    [
        "Alignment of hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t__bindgen_ty_1",
    ][::std::mem::align_of::<
        hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t__bindgen_ty_1,
    >() - 8usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t__bindgen_ty_1::value",
    ][::std::mem::offset_of!(
        hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t__bindgen_ty_1,
        value
    ) - 0usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t__bindgen_ty_1::value64",
    ][::std::mem::offset_of!(
        hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t__bindgen_ty_1,
        value64
    ) - 0usize];
};
impl Default
for hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t__bindgen_ty_1 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug
for hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t__bindgen_ty_1 {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(
            f,
            "hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t__bindgen_ty_1 {{ union }}"
        )
    }
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t",
    ][::std::mem::size_of::<
        hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t,
    >() - 40usize];
    [
        "Alignment of hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t",
    ][::std::mem::align_of::<
        hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t,
    >() - 8usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t::operation",
    ][::std::mem::offset_of!(
        hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t, operation
    ) - 0usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t::address",
    ][::std::mem::offset_of!(
        hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t, address
    ) - 8usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t::flags",
    ][::std::mem::offset_of!(
        hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t, flags
    ) - 24usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t::alias",
    ][::std::mem::offset_of!(
        hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t, alias
    ) - 32usize];
};
impl Default for hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug
for hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(
            f,
            "hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t {{ operation: {:?}, address: {:?}, __bindgen_anon_1: {:?}, flags: {:?}, alias: {:?} }}",
            self.operation, self.address, self.__bindgen_anon_1, self.flags, self.alias
        )
    }
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t {
    pub operation: hipStreamBatchMemOpType,
    pub address: hipDeviceptr_t,
    pub __bindgen_anon_1: hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t__bindgen_ty_1,
    pub flags: c_uint,
    pub alias: hipDeviceptr_t,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t__bindgen_ty_1 {
    pub value: u32,
    pub value64: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t__bindgen_ty_1",
    ][::std::mem::size_of::<
        hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t__bindgen_ty_1,
    >() - 8usize];
    [
        "Alignment of hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t__bindgen_ty_1",
    ][::std::mem::align_of::<
        hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t__bindgen_ty_1,
    >() - 8usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t__bindgen_ty_1::value",
    ][::std::mem::offset_of!(
        hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t__bindgen_ty_1,
        value
    ) - 0usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t__bindgen_ty_1::value64",
    ][::std::mem::offset_of!(
        hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t__bindgen_ty_1,
        value64
    ) - 0usize];
};
impl Default
for hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t__bindgen_ty_1 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug
for hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t__bindgen_ty_1 {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(
            f,
            "hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t__bindgen_ty_1 {{ union }}"
        )
    }
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t",
    ][::std::mem::size_of::<
        hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t,
    >() - 40usize];
    [
        "Alignment of hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t",
    ][::std::mem::align_of::<
        hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t,
    >() - 8usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t::operation",
    ][::std::mem::offset_of!(
        hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t, operation
    ) - 0usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t::address",
    ][::std::mem::offset_of!(
        hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t, address
    ) - 8usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t::flags",
    ][::std::mem::offset_of!(
        hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t, flags
    ) - 24usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t::alias",
    ][::std::mem::offset_of!(
        hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t, alias
    ) - 32usize];
};
impl Default for hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug
for hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(
            f,
            "hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t {{ operation: {:?}, address: {:?}, __bindgen_anon_1: {:?}, flags: {:?}, alias: {:?} }}",
            self.operation, self.address, self.__bindgen_anon_1, self.flags, self.alias
        )
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipStreamBatchMemOpParams_union_hipStreamMemOpFlushRemoteWritesParams_t {
    pub operation: hipStreamBatchMemOpType,
    pub flags: c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipStreamBatchMemOpParams_union_hipStreamMemOpFlushRemoteWritesParams_t",
    ][::std::mem::size_of::<
        hipStreamBatchMemOpParams_union_hipStreamMemOpFlushRemoteWritesParams_t,
    >() - 8usize];
    [
        "Alignment of hipStreamBatchMemOpParams_union_hipStreamMemOpFlushRemoteWritesParams_t",
    ][::std::mem::align_of::<
        hipStreamBatchMemOpParams_union_hipStreamMemOpFlushRemoteWritesParams_t,
    >() - 4usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union_hipStreamMemOpFlushRemoteWritesParams_t::operation",
    ][::std::mem::offset_of!(
        hipStreamBatchMemOpParams_union_hipStreamMemOpFlushRemoteWritesParams_t,
        operation
    ) - 0usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union_hipStreamMemOpFlushRemoteWritesParams_t::flags",
    ][::std::mem::offset_of!(
        hipStreamBatchMemOpParams_union_hipStreamMemOpFlushRemoteWritesParams_t, flags
    ) - 4usize];
};
impl Default
for hipStreamBatchMemOpParams_union_hipStreamMemOpFlushRemoteWritesParams_t {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipStreamBatchMemOpParams_union_hipStreamMemOpMemoryBarrierParams_t {
    pub operation: hipStreamBatchMemOpType,
    pub flags: c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipStreamBatchMemOpParams_union_hipStreamMemOpMemoryBarrierParams_t",
    ][::std::mem::size_of::<
        hipStreamBatchMemOpParams_union_hipStreamMemOpMemoryBarrierParams_t,
    >() - 8usize];
    [
        "Alignment of hipStreamBatchMemOpParams_union_hipStreamMemOpMemoryBarrierParams_t",
    ][::std::mem::align_of::<
        hipStreamBatchMemOpParams_union_hipStreamMemOpMemoryBarrierParams_t,
    >() - 4usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union_hipStreamMemOpMemoryBarrierParams_t::operation",
    ][::std::mem::offset_of!(
        hipStreamBatchMemOpParams_union_hipStreamMemOpMemoryBarrierParams_t, operation
    ) - 0usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union_hipStreamMemOpMemoryBarrierParams_t::flags",
    ][::std::mem::offset_of!(
        hipStreamBatchMemOpParams_union_hipStreamMemOpMemoryBarrierParams_t, flags
    ) - 4usize];
};
impl Default for hipStreamBatchMemOpParams_union_hipStreamMemOpMemoryBarrierParams_t {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipStreamBatchMemOpParams_union",
    ][::std::mem::size_of::<hipStreamBatchMemOpParams_union>() - 48usize];
    [
        "Alignment of hipStreamBatchMemOpParams_union",
    ][::std::mem::align_of::<hipStreamBatchMemOpParams_union>() - 8usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union::operation",
    ][::std::mem::offset_of!(hipStreamBatchMemOpParams_union, operation) - 0usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union::waitValue",
    ][::std::mem::offset_of!(hipStreamBatchMemOpParams_union, waitValue) - 0usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union::writeValue",
    ][::std::mem::offset_of!(hipStreamBatchMemOpParams_union, writeValue) - 0usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union::flushRemoteWrites",
    ][::std::mem::offset_of!(hipStreamBatchMemOpParams_union, flushRemoteWrites)
        - 0usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union::memoryBarrier",
    ][::std::mem::offset_of!(hipStreamBatchMemOpParams_union, memoryBarrier) - 0usize];
    [
        "Offset of field: hipStreamBatchMemOpParams_union::pad",
    ][::std::mem::offset_of!(hipStreamBatchMemOpParams_union, pad) - 0usize];
};
impl Default for hipStreamBatchMemOpParams_union {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipStreamBatchMemOpParams_union {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(f, "hipStreamBatchMemOpParams_union {{ union }}")
    }
}
pub type hipStreamBatchMemOpParams = hipStreamBatchMemOpParams_union;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipBatchMemOpNodeParams {
    pub ctx: hipCtx_t,
    pub count: c_uint,
    pub paramArray: *mut hipStreamBatchMemOpParams,
    pub flags: c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipBatchMemOpNodeParams",
    ][::std::mem::size_of::<hipBatchMemOpNodeParams>() - 32usize];
    [
        "Alignment of hipBatchMemOpNodeParams",
    ][::std::mem::align_of::<hipBatchMemOpNodeParams>() - 8usize];
    [
        "Offset of field: hipBatchMemOpNodeParams::ctx",
    ][::std::mem::offset_of!(hipBatchMemOpNodeParams, ctx) - 0usize];
    [
        "Offset of field: hipBatchMemOpNodeParams::count",
    ][::std::mem::offset_of!(hipBatchMemOpNodeParams, count) - 8usize];
    [
        "Offset of field: hipBatchMemOpNodeParams::paramArray",
    ][::std::mem::offset_of!(hipBatchMemOpNodeParams, paramArray) - 16usize];
    [
        "Offset of field: hipBatchMemOpNodeParams::flags",
    ][::std::mem::offset_of!(hipBatchMemOpNodeParams, flags) - 24usize];
};
impl Default for hipBatchMemOpNodeParams {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl hipMemoryAdvise {
    pub const hipMemAdviseSetReadMostly: hipMemoryAdvise = hipMemoryAdvise(1);
    pub const hipMemAdviseUnsetReadMostly: hipMemoryAdvise = hipMemoryAdvise(2);
    pub const hipMemAdviseSetPreferredLocation: hipMemoryAdvise = hipMemoryAdvise(3);
    pub const hipMemAdviseUnsetPreferredLocation: hipMemoryAdvise = hipMemoryAdvise(4);
    pub const hipMemAdviseSetAccessedBy: hipMemoryAdvise = hipMemoryAdvise(5);
    pub const hipMemAdviseUnsetAccessedBy: hipMemoryAdvise = hipMemoryAdvise(6);
    pub const hipMemAdviseSetCoarseGrain: hipMemoryAdvise = hipMemoryAdvise(100);
    pub const hipMemAdviseUnsetCoarseGrain: hipMemoryAdvise = hipMemoryAdvise(101);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipMemoryAdvise(pub c_uint);
impl hipMemRangeAttribute {
    pub const hipMemRangeAttributeReadMostly: hipMemRangeAttribute = hipMemRangeAttribute(
        1,
    );
    pub const hipMemRangeAttributePreferredLocation: hipMemRangeAttribute = hipMemRangeAttribute(
        2,
    );
    pub const hipMemRangeAttributeAccessedBy: hipMemRangeAttribute = hipMemRangeAttribute(
        3,
    );
    pub const hipMemRangeAttributeLastPrefetchLocation: hipMemRangeAttribute = hipMemRangeAttribute(
        4,
    );
    pub const hipMemRangeAttributeCoherencyMode: hipMemRangeAttribute = hipMemRangeAttribute(
        100,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipMemRangeAttribute(pub c_uint);
impl hipMemPoolAttr {
    pub const hipMemPoolReuseFollowEventDependencies: hipMemPoolAttr = hipMemPoolAttr(1);
    pub const hipMemPoolReuseAllowOpportunistic: hipMemPoolAttr = hipMemPoolAttr(2);
    pub const hipMemPoolReuseAllowInternalDependencies: hipMemPoolAttr = hipMemPoolAttr(
        3,
    );
    pub const hipMemPoolAttrReleaseThreshold: hipMemPoolAttr = hipMemPoolAttr(4);
    pub const hipMemPoolAttrReservedMemCurrent: hipMemPoolAttr = hipMemPoolAttr(5);
    pub const hipMemPoolAttrReservedMemHigh: hipMemPoolAttr = hipMemPoolAttr(6);
    pub const hipMemPoolAttrUsedMemCurrent: hipMemPoolAttr = hipMemPoolAttr(7);
    pub const hipMemPoolAttrUsedMemHigh: hipMemPoolAttr = hipMemPoolAttr(8);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipMemPoolAttr(pub c_uint);
impl hipMemAccessFlags {
    pub const hipMemAccessFlagsProtNone: hipMemAccessFlags = hipMemAccessFlags(0);
    pub const hipMemAccessFlagsProtRead: hipMemAccessFlags = hipMemAccessFlags(1);
    pub const hipMemAccessFlagsProtReadWrite: hipMemAccessFlags = hipMemAccessFlags(3);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipMemAccessFlags(pub c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipMemAccessDesc {
    pub location: hipMemLocation,
    pub flags: hipMemAccessFlags,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hipMemAccessDesc"][::std::mem::size_of::<hipMemAccessDesc>() - 12usize];
    [
        "Alignment of hipMemAccessDesc",
    ][::std::mem::align_of::<hipMemAccessDesc>() - 4usize];
    [
        "Offset of field: hipMemAccessDesc::location",
    ][::std::mem::offset_of!(hipMemAccessDesc, location) - 0usize];
    [
        "Offset of field: hipMemAccessDesc::flags",
    ][::std::mem::offset_of!(hipMemAccessDesc, flags) - 8usize];
};
impl Default for hipMemAccessDesc {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl hipMemAllocationType {
    pub const hipMemAllocationTypeInvalid: hipMemAllocationType = hipMemAllocationType(
        0,
    );
    pub const hipMemAllocationTypePinned: hipMemAllocationType = hipMemAllocationType(1);
    pub const hipMemAllocationTypeUncached: hipMemAllocationType = hipMemAllocationType(
        1073741824,
    );
    pub const hipMemAllocationTypeMax: hipMemAllocationType = hipMemAllocationType(
        2147483647,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipMemAllocationType(pub c_uint);
impl hipMemAllocationHandleType {
    pub const hipMemHandleTypeNone: hipMemAllocationHandleType = hipMemAllocationHandleType(
        0,
    );
    pub const hipMemHandleTypePosixFileDescriptor: hipMemAllocationHandleType = hipMemAllocationHandleType(
        1,
    );
    pub const hipMemHandleTypeWin32: hipMemAllocationHandleType = hipMemAllocationHandleType(
        2,
    );
    pub const hipMemHandleTypeWin32Kmt: hipMemAllocationHandleType = hipMemAllocationHandleType(
        4,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipMemAllocationHandleType(pub c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipMemPoolProps {
    pub allocType: hipMemAllocationType,
    pub handleTypes: hipMemAllocationHandleType,
    pub location: hipMemLocation,
    pub win32SecurityAttributes: *mut c_void,
    pub maxSize: usize,
    pub reserved: [c_uchar; 56usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hipMemPoolProps"][::std::mem::size_of::<hipMemPoolProps>() - 88usize];
    ["Alignment of hipMemPoolProps"][::std::mem::align_of::<hipMemPoolProps>() - 8usize];
    [
        "Offset of field: hipMemPoolProps::allocType",
    ][::std::mem::offset_of!(hipMemPoolProps, allocType) - 0usize];
    [
        "Offset of field: hipMemPoolProps::handleTypes",
    ][::std::mem::offset_of!(hipMemPoolProps, handleTypes) - 4usize];
    [
        "Offset of field: hipMemPoolProps::location",
    ][::std::mem::offset_of!(hipMemPoolProps, location) - 8usize];
    [
        "Offset of field: hipMemPoolProps::win32SecurityAttributes",
    ][::std::mem::offset_of!(hipMemPoolProps, win32SecurityAttributes) - 16usize];
    [
        "Offset of field: hipMemPoolProps::maxSize",
    ][::std::mem::offset_of!(hipMemPoolProps, maxSize) - 24usize];
    [
        "Offset of field: hipMemPoolProps::reserved",
    ][::std::mem::offset_of!(hipMemPoolProps, reserved) - 32usize];
};
impl Default for hipMemPoolProps {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipMemPoolPtrExportData {
    pub reserved: [c_uchar; 64usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipMemPoolPtrExportData",
    ][::std::mem::size_of::<hipMemPoolPtrExportData>() - 64usize];
    [
        "Alignment of hipMemPoolPtrExportData",
    ][::std::mem::align_of::<hipMemPoolPtrExportData>() - 1usize];
    [
        "Offset of field: hipMemPoolPtrExportData::reserved",
    ][::std::mem::offset_of!(hipMemPoolPtrExportData, reserved) - 0usize];
};
impl Default for hipMemPoolPtrExportData {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl hipFuncAttribute {
    pub const hipFuncAttributeMaxDynamicSharedMemorySize: hipFuncAttribute = hipFuncAttribute(
        8,
    );
    pub const hipFuncAttributePreferredSharedMemoryCarveout: hipFuncAttribute = hipFuncAttribute(
        9,
    );
    pub const hipFuncAttributeMax: hipFuncAttribute = hipFuncAttribute(10);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipFuncAttribute(pub c_uint);
impl hipFuncCache_t {
    pub const hipFuncCachePreferNone: hipFuncCache_t = hipFuncCache_t(0);
    pub const hipFuncCachePreferShared: hipFuncCache_t = hipFuncCache_t(1);
    pub const hipFuncCachePreferL1: hipFuncCache_t = hipFuncCache_t(2);
    pub const hipFuncCachePreferEqual: hipFuncCache_t = hipFuncCache_t(3);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipFuncCache_t(pub c_uint);
impl hipSharedMemConfig {
    pub const hipSharedMemBankSizeDefault: hipSharedMemConfig = hipSharedMemConfig(0);
    pub const hipSharedMemBankSizeFourByte: hipSharedMemConfig = hipSharedMemConfig(1);
    pub const hipSharedMemBankSizeEightByte: hipSharedMemConfig = hipSharedMemConfig(2);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipSharedMemConfig(pub c_uint);
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dim3"][::std::mem::size_of::<dim3>() - 12usize];
    ["Alignment of dim3"][::std::mem::align_of::<dim3>() - 4usize];
    ["Offset of field: dim3::x"][::std::mem::offset_of!(dim3, x) - 0usize];
    ["Offset of field: dim3::y"][::std::mem::offset_of!(dim3, y) - 4usize];
    ["Offset of field: dim3::z"][::std::mem::offset_of!(dim3, z) - 8usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipLaunchParams_t {
    pub func: *mut c_void,
    pub gridDim: dim3,
    pub blockDim: dim3,
    pub args: *mut *mut c_void,
    pub sharedMem: usize,
    pub stream: hipStream_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hipLaunchParams_t"][::std::mem::size_of::<hipLaunchParams_t>() - 56usize];
    [
        "Alignment of hipLaunchParams_t",
    ][::std::mem::align_of::<hipLaunchParams_t>() - 8usize];
    [
        "Offset of field: hipLaunchParams_t::func",
    ][::std::mem::offset_of!(hipLaunchParams_t, func) - 0usize];
    [
        "Offset of field: hipLaunchParams_t::gridDim",
    ][::std::mem::offset_of!(hipLaunchParams_t, gridDim) - 8usize];
    [
        "Offset of field: hipLaunchParams_t::blockDim",
    ][::std::mem::offset_of!(hipLaunchParams_t, blockDim) - 20usize];
    [
        "Offset of field: hipLaunchParams_t::args",
    ][::std::mem::offset_of!(hipLaunchParams_t, args) - 32usize];
    [
        "Offset of field: hipLaunchParams_t::sharedMem",
    ][::std::mem::offset_of!(hipLaunchParams_t, sharedMem) - 40usize];
    [
        "Offset of field: hipLaunchParams_t::stream",
    ][::std::mem::offset_of!(hipLaunchParams_t, stream) - 48usize];
};
impl Default for hipLaunchParams_t {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type hipLaunchParams = hipLaunchParams_t;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipFunctionLaunchParams_t {
    pub function: hipFunction_t,
    pub gridDimX: c_uint,
    pub gridDimY: c_uint,
    pub gridDimZ: c_uint,
    pub blockDimX: c_uint,
    pub blockDimY: c_uint,
    pub blockDimZ: c_uint,
    pub sharedMemBytes: c_uint,
    pub hStream: hipStream_t,
    pub kernelParams: *mut *mut c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipFunctionLaunchParams_t",
    ][::std::mem::size_of::<hipFunctionLaunchParams_t>() - 56usize];
    [
        "Alignment of hipFunctionLaunchParams_t",
    ][::std::mem::align_of::<hipFunctionLaunchParams_t>() - 8usize];
    [
        "Offset of field: hipFunctionLaunchParams_t::function",
    ][::std::mem::offset_of!(hipFunctionLaunchParams_t, function) - 0usize];
    [
        "Offset of field: hipFunctionLaunchParams_t::gridDimX",
    ][::std::mem::offset_of!(hipFunctionLaunchParams_t, gridDimX) - 8usize];
    [
        "Offset of field: hipFunctionLaunchParams_t::gridDimY",
    ][::std::mem::offset_of!(hipFunctionLaunchParams_t, gridDimY) - 12usize];
    [
        "Offset of field: hipFunctionLaunchParams_t::gridDimZ",
    ][::std::mem::offset_of!(hipFunctionLaunchParams_t, gridDimZ) - 16usize];
    [
        "Offset of field: hipFunctionLaunchParams_t::blockDimX",
    ][::std::mem::offset_of!(hipFunctionLaunchParams_t, blockDimX) - 20usize];
    [
        "Offset of field: hipFunctionLaunchParams_t::blockDimY",
    ][::std::mem::offset_of!(hipFunctionLaunchParams_t, blockDimY) - 24usize];
    [
        "Offset of field: hipFunctionLaunchParams_t::blockDimZ",
    ][::std::mem::offset_of!(hipFunctionLaunchParams_t, blockDimZ) - 28usize];
    [
        "Offset of field: hipFunctionLaunchParams_t::sharedMemBytes",
    ][::std::mem::offset_of!(hipFunctionLaunchParams_t, sharedMemBytes) - 32usize];
    [
        "Offset of field: hipFunctionLaunchParams_t::hStream",
    ][::std::mem::offset_of!(hipFunctionLaunchParams_t, hStream) - 40usize];
    [
        "Offset of field: hipFunctionLaunchParams_t::kernelParams",
    ][::std::mem::offset_of!(hipFunctionLaunchParams_t, kernelParams) - 48usize];
};
impl Default for hipFunctionLaunchParams_t {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type hipFunctionLaunchParams = hipFunctionLaunchParams_t;
impl hipExternalMemoryHandleType_enum {
    pub const hipExternalMemoryHandleTypeOpaqueFd: hipExternalMemoryHandleType_enum = hipExternalMemoryHandleType_enum(
        1,
    );
    pub const hipExternalMemoryHandleTypeOpaqueWin32: hipExternalMemoryHandleType_enum = hipExternalMemoryHandleType_enum(
        2,
    );
    pub const hipExternalMemoryHandleTypeOpaqueWin32Kmt: hipExternalMemoryHandleType_enum = hipExternalMemoryHandleType_enum(
        3,
    );
    pub const hipExternalMemoryHandleTypeD3D12Heap: hipExternalMemoryHandleType_enum = hipExternalMemoryHandleType_enum(
        4,
    );
    pub const hipExternalMemoryHandleTypeD3D12Resource: hipExternalMemoryHandleType_enum = hipExternalMemoryHandleType_enum(
        5,
    );
    pub const hipExternalMemoryHandleTypeD3D11Resource: hipExternalMemoryHandleType_enum = hipExternalMemoryHandleType_enum(
        6,
    );
    pub const hipExternalMemoryHandleTypeD3D11ResourceKmt: hipExternalMemoryHandleType_enum = hipExternalMemoryHandleType_enum(
        7,
    );
    pub const hipExternalMemoryHandleTypeNvSciBuf: hipExternalMemoryHandleType_enum = hipExternalMemoryHandleType_enum(
        8,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipExternalMemoryHandleType_enum(pub c_uint);
pub use self::hipExternalMemoryHandleType_enum as hipExternalMemoryHandleType;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct hipExternalMemoryHandleDesc_st {
    pub type_: hipExternalMemoryHandleType,
    pub handle: hipExternalMemoryHandleDesc_st__bindgen_ty_1,
    pub size: c_ulonglong,
    pub flags: c_uint,
    pub reserved: [c_uint; 16usize],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union hipExternalMemoryHandleDesc_st__bindgen_ty_1 {
    pub fd: c_int,
    pub win32: hipExternalMemoryHandleDesc_st__bindgen_ty_1__bindgen_ty_1,
    pub nvSciBufObject: *const c_void,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipExternalMemoryHandleDesc_st__bindgen_ty_1__bindgen_ty_1 {
    pub handle: *mut c_void,
    pub name: *const c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalMemoryHandleDesc_st__bindgen_ty_1__bindgen_ty_1",
    ][::std::mem::size_of::<hipExternalMemoryHandleDesc_st__bindgen_ty_1__bindgen_ty_1>()
        - 16usize];
    [
        "Alignment of hipExternalMemoryHandleDesc_st__bindgen_ty_1__bindgen_ty_1",
    ][::std::mem::align_of::<
        hipExternalMemoryHandleDesc_st__bindgen_ty_1__bindgen_ty_1,
    >() - 8usize];
    [
        "Offset of field: hipExternalMemoryHandleDesc_st__bindgen_ty_1__bindgen_ty_1::handle",
    ][::std::mem::offset_of!(
        hipExternalMemoryHandleDesc_st__bindgen_ty_1__bindgen_ty_1, handle
    ) - 0usize];
    [
        "Offset of field: hipExternalMemoryHandleDesc_st__bindgen_ty_1__bindgen_ty_1::name",
    ][::std::mem::offset_of!(
        hipExternalMemoryHandleDesc_st__bindgen_ty_1__bindgen_ty_1, name
    ) - 8usize];
};
impl Default for hipExternalMemoryHandleDesc_st__bindgen_ty_1__bindgen_ty_1 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalMemoryHandleDesc_st__bindgen_ty_1",
    ][::std::mem::size_of::<hipExternalMemoryHandleDesc_st__bindgen_ty_1>() - 16usize];
    [
        "Alignment of hipExternalMemoryHandleDesc_st__bindgen_ty_1",
    ][::std::mem::align_of::<hipExternalMemoryHandleDesc_st__bindgen_ty_1>() - 8usize];
    [
        "Offset of field: hipExternalMemoryHandleDesc_st__bindgen_ty_1::fd",
    ][::std::mem::offset_of!(hipExternalMemoryHandleDesc_st__bindgen_ty_1, fd) - 0usize];
    [
        "Offset of field: hipExternalMemoryHandleDesc_st__bindgen_ty_1::win32",
    ][::std::mem::offset_of!(hipExternalMemoryHandleDesc_st__bindgen_ty_1, win32)
        - 0usize];
    [
        "Offset of field: hipExternalMemoryHandleDesc_st__bindgen_ty_1::nvSciBufObject",
    ][::std::mem::offset_of!(
        hipExternalMemoryHandleDesc_st__bindgen_ty_1, nvSciBufObject
    ) - 0usize];
};
impl Default for hipExternalMemoryHandleDesc_st__bindgen_ty_1 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipExternalMemoryHandleDesc_st__bindgen_ty_1 {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(f, "hipExternalMemoryHandleDesc_st__bindgen_ty_1 {{ union }}")
    }
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalMemoryHandleDesc_st",
    ][::std::mem::size_of::<hipExternalMemoryHandleDesc_st>() - 104usize];
    [
        "Alignment of hipExternalMemoryHandleDesc_st",
    ][::std::mem::align_of::<hipExternalMemoryHandleDesc_st>() - 8usize];
    [
        "Offset of field: hipExternalMemoryHandleDesc_st::type_",
    ][::std::mem::offset_of!(hipExternalMemoryHandleDesc_st, type_) - 0usize];
    [
        "Offset of field: hipExternalMemoryHandleDesc_st::handle",
    ][::std::mem::offset_of!(hipExternalMemoryHandleDesc_st, handle) - 8usize];
    [
        "Offset of field: hipExternalMemoryHandleDesc_st::size",
    ][::std::mem::offset_of!(hipExternalMemoryHandleDesc_st, size) - 24usize];
    [
        "Offset of field: hipExternalMemoryHandleDesc_st::flags",
    ][::std::mem::offset_of!(hipExternalMemoryHandleDesc_st, flags) - 32usize];
    [
        "Offset of field: hipExternalMemoryHandleDesc_st::reserved",
    ][::std::mem::offset_of!(hipExternalMemoryHandleDesc_st, reserved) - 36usize];
};
impl Default for hipExternalMemoryHandleDesc_st {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipExternalMemoryHandleDesc_st {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(
            f,
            "hipExternalMemoryHandleDesc_st {{ type: {:?}, handle: {:?}, size: {:?}, flags: {:?}, reserved: {:?} }}",
            self.type_, self.handle, self.size, self.flags, self.reserved
        )
    }
}
pub type hipExternalMemoryHandleDesc = hipExternalMemoryHandleDesc_st;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hipExternalMemoryBufferDesc_st {
    pub offset: c_ulonglong,
    pub size: c_ulonglong,
    pub flags: c_uint,
    pub reserved: [c_uint; 16usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalMemoryBufferDesc_st",
    ][::std::mem::size_of::<hipExternalMemoryBufferDesc_st>() - 88usize];
    [
        "Alignment of hipExternalMemoryBufferDesc_st",
    ][::std::mem::align_of::<hipExternalMemoryBufferDesc_st>() - 8usize];
    [
        "Offset of field: hipExternalMemoryBufferDesc_st::offset",
    ][::std::mem::offset_of!(hipExternalMemoryBufferDesc_st, offset) - 0usize];
    [
        "Offset of field: hipExternalMemoryBufferDesc_st::size",
    ][::std::mem::offset_of!(hipExternalMemoryBufferDesc_st, size) - 8usize];
    [
        "Offset of field: hipExternalMemoryBufferDesc_st::flags",
    ][::std::mem::offset_of!(hipExternalMemoryBufferDesc_st, flags) - 16usize];
    [
        "Offset of field: hipExternalMemoryBufferDesc_st::reserved",
    ][::std::mem::offset_of!(hipExternalMemoryBufferDesc_st, reserved) - 20usize];
};
pub type hipExternalMemoryBufferDesc = hipExternalMemoryBufferDesc_st;
pub type hipExternalMemory_t = *mut c_void;
impl hipExternalSemaphoreHandleType_enum {
    pub const hipExternalSemaphoreHandleTypeOpaqueFd: hipExternalSemaphoreHandleType_enum = hipExternalSemaphoreHandleType_enum(
        1,
    );
    pub const hipExternalSemaphoreHandleTypeOpaqueWin32: hipExternalSemaphoreHandleType_enum = hipExternalSemaphoreHandleType_enum(
        2,
    );
    pub const hipExternalSemaphoreHandleTypeOpaqueWin32Kmt: hipExternalSemaphoreHandleType_enum = hipExternalSemaphoreHandleType_enum(
        3,
    );
    pub const hipExternalSemaphoreHandleTypeD3D12Fence: hipExternalSemaphoreHandleType_enum = hipExternalSemaphoreHandleType_enum(
        4,
    );
    pub const hipExternalSemaphoreHandleTypeD3D11Fence: hipExternalSemaphoreHandleType_enum = hipExternalSemaphoreHandleType_enum(
        5,
    );
    pub const hipExternalSemaphoreHandleTypeNvSciSync: hipExternalSemaphoreHandleType_enum = hipExternalSemaphoreHandleType_enum(
        6,
    );
    pub const hipExternalSemaphoreHandleTypeKeyedMutex: hipExternalSemaphoreHandleType_enum = hipExternalSemaphoreHandleType_enum(
        7,
    );
    pub const hipExternalSemaphoreHandleTypeKeyedMutexKmt: hipExternalSemaphoreHandleType_enum = hipExternalSemaphoreHandleType_enum(
        8,
    );
    pub const hipExternalSemaphoreHandleTypeTimelineSemaphoreFd: hipExternalSemaphoreHandleType_enum = hipExternalSemaphoreHandleType_enum(
        9,
    );
    pub const hipExternalSemaphoreHandleTypeTimelineSemaphoreWin32: hipExternalSemaphoreHandleType_enum = hipExternalSemaphoreHandleType_enum(
        10,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipExternalSemaphoreHandleType_enum(pub c_uint);
pub use self::hipExternalSemaphoreHandleType_enum as hipExternalSemaphoreHandleType;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct hipExternalSemaphoreHandleDesc_st {
    pub type_: hipExternalSemaphoreHandleType,
    pub handle: hipExternalSemaphoreHandleDesc_st__bindgen_ty_1,
    pub flags: c_uint,
    pub reserved: [c_uint; 16usize],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union hipExternalSemaphoreHandleDesc_st__bindgen_ty_1 {
    pub fd: c_int,
    pub win32: hipExternalSemaphoreHandleDesc_st__bindgen_ty_1__bindgen_ty_1,
    pub NvSciSyncObj: *const c_void,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipExternalSemaphoreHandleDesc_st__bindgen_ty_1__bindgen_ty_1 {
    pub handle: *mut c_void,
    pub name: *const c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalSemaphoreHandleDesc_st__bindgen_ty_1__bindgen_ty_1",
    ][::std::mem::size_of::<
        hipExternalSemaphoreHandleDesc_st__bindgen_ty_1__bindgen_ty_1,
    >() - 16usize];
    [
        "Alignment of hipExternalSemaphoreHandleDesc_st__bindgen_ty_1__bindgen_ty_1",
    ][::std::mem::align_of::<
        hipExternalSemaphoreHandleDesc_st__bindgen_ty_1__bindgen_ty_1,
    >() - 8usize];
    [
        "Offset of field: hipExternalSemaphoreHandleDesc_st__bindgen_ty_1__bindgen_ty_1::handle",
    ][::std::mem::offset_of!(
        hipExternalSemaphoreHandleDesc_st__bindgen_ty_1__bindgen_ty_1, handle
    ) - 0usize];
    [
        "Offset of field: hipExternalSemaphoreHandleDesc_st__bindgen_ty_1__bindgen_ty_1::name",
    ][::std::mem::offset_of!(
        hipExternalSemaphoreHandleDesc_st__bindgen_ty_1__bindgen_ty_1, name
    ) - 8usize];
};
impl Default for hipExternalSemaphoreHandleDesc_st__bindgen_ty_1__bindgen_ty_1 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalSemaphoreHandleDesc_st__bindgen_ty_1",
    ][::std::mem::size_of::<hipExternalSemaphoreHandleDesc_st__bindgen_ty_1>()
        - 16usize];
    [
        "Alignment of hipExternalSemaphoreHandleDesc_st__bindgen_ty_1",
    ][::std::mem::align_of::<hipExternalSemaphoreHandleDesc_st__bindgen_ty_1>()
        - 8usize];
    [
        "Offset of field: hipExternalSemaphoreHandleDesc_st__bindgen_ty_1::fd",
    ][::std::mem::offset_of!(hipExternalSemaphoreHandleDesc_st__bindgen_ty_1, fd)
        - 0usize];
    [
        "Offset of field: hipExternalSemaphoreHandleDesc_st__bindgen_ty_1::win32",
    ][::std::mem::offset_of!(hipExternalSemaphoreHandleDesc_st__bindgen_ty_1, win32)
        - 0usize];
    [
        "Offset of field: hipExternalSemaphoreHandleDesc_st__bindgen_ty_1::NvSciSyncObj",
    ][::std::mem::offset_of!(
        hipExternalSemaphoreHandleDesc_st__bindgen_ty_1, NvSciSyncObj
    ) - 0usize];
};
impl Default for hipExternalSemaphoreHandleDesc_st__bindgen_ty_1 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipExternalSemaphoreHandleDesc_st__bindgen_ty_1 {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(f, "hipExternalSemaphoreHandleDesc_st__bindgen_ty_1 {{ union }}")
    }
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalSemaphoreHandleDesc_st",
    ][::std::mem::size_of::<hipExternalSemaphoreHandleDesc_st>() - 96usize];
    [
        "Alignment of hipExternalSemaphoreHandleDesc_st",
    ][::std::mem::align_of::<hipExternalSemaphoreHandleDesc_st>() - 8usize];
    [
        "Offset of field: hipExternalSemaphoreHandleDesc_st::type_",
    ][::std::mem::offset_of!(hipExternalSemaphoreHandleDesc_st, type_) - 0usize];
    [
        "Offset of field: hipExternalSemaphoreHandleDesc_st::handle",
    ][::std::mem::offset_of!(hipExternalSemaphoreHandleDesc_st, handle) - 8usize];
    [
        "Offset of field: hipExternalSemaphoreHandleDesc_st::flags",
    ][::std::mem::offset_of!(hipExternalSemaphoreHandleDesc_st, flags) - 24usize];
    [
        "Offset of field: hipExternalSemaphoreHandleDesc_st::reserved",
    ][::std::mem::offset_of!(hipExternalSemaphoreHandleDesc_st, reserved) - 28usize];
};
impl Default for hipExternalSemaphoreHandleDesc_st {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipExternalSemaphoreHandleDesc_st {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(
            f,
            "hipExternalSemaphoreHandleDesc_st {{ type: {:?}, handle: {:?}, flags: {:?}, reserved: {:?} }}",
            self.type_, self.handle, self.flags, self.reserved
        )
    }
}
pub type hipExternalSemaphoreHandleDesc = hipExternalSemaphoreHandleDesc_st;
pub type hipExternalSemaphore_t = *mut c_void;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct hipExternalSemaphoreSignalParams_st {
    pub params: hipExternalSemaphoreSignalParams_st__bindgen_ty_1,
    pub flags: c_uint,
    pub reserved: [c_uint; 16usize],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct hipExternalSemaphoreSignalParams_st__bindgen_ty_1 {
    pub fence: hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_1,
    pub nvSciSync: hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_2,
    pub keyedMutex: hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_3,
    pub reserved: [c_uint; 12usize],
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_1 {
    pub value: c_ulonglong,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_1",
    ][::std::mem::size_of::<
        hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_1,
    >() - 8usize];
    [
        "Alignment of hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_1",
    ][::std::mem::align_of::<
        hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_1,
    >() - 8usize];
    [
        "Offset of field: hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_1::value",
    ][::std::mem::offset_of!(
        hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_1, value
    ) - 0usize];
};
#[repr(C)]
#[derive(Copy, Clone)]
pub union hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_2 {
    pub fence: *mut c_void,
    pub reserved: c_ulonglong,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_2",
    ][::std::mem::size_of::<
        hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_2,
    >() - 8usize];
    [
        "Alignment of hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_2",
    ][::std::mem::align_of::<
        hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_2,
    >() - 8usize];
    [
        "Offset of field: hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_2::fence",
    ][::std::mem::offset_of!(
        hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_2, fence
    ) - 0usize];
    [
        "Offset of field: hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_2::reserved",
    ][::std::mem::offset_of!(
        hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_2, reserved
    ) - 0usize];
};
impl Default for hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_2 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug
for hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_2 {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(
            f,
            "hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_2 {{ union }}"
        )
    }
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_3 {
    pub key: c_ulonglong,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_3",
    ][::std::mem::size_of::<
        hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_3,
    >() - 8usize];
    [
        "Alignment of hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_3",
    ][::std::mem::align_of::<
        hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_3,
    >() - 8usize];
    [
        "Offset of field: hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_3::key",
    ][::std::mem::offset_of!(
        hipExternalSemaphoreSignalParams_st__bindgen_ty_1__bindgen_ty_3, key
    ) - 0usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalSemaphoreSignalParams_st__bindgen_ty_1",
    ][::std::mem::size_of::<hipExternalSemaphoreSignalParams_st__bindgen_ty_1>()
        - 72usize];
    [
        "Alignment of hipExternalSemaphoreSignalParams_st__bindgen_ty_1",
    ][::std::mem::align_of::<hipExternalSemaphoreSignalParams_st__bindgen_ty_1>()
        - 8usize];
    [
        "Offset of field: hipExternalSemaphoreSignalParams_st__bindgen_ty_1::fence",
    ][::std::mem::offset_of!(hipExternalSemaphoreSignalParams_st__bindgen_ty_1, fence)
        - 0usize];
    [
        "Offset of field: hipExternalSemaphoreSignalParams_st__bindgen_ty_1::nvSciSync",
    ][::std::mem::offset_of!(
        hipExternalSemaphoreSignalParams_st__bindgen_ty_1, nvSciSync
    ) - 8usize];
    [
        "Offset of field: hipExternalSemaphoreSignalParams_st__bindgen_ty_1::keyedMutex",
    ][::std::mem::offset_of!(
        hipExternalSemaphoreSignalParams_st__bindgen_ty_1, keyedMutex
    ) - 16usize];
    [
        "Offset of field: hipExternalSemaphoreSignalParams_st__bindgen_ty_1::reserved",
    ][::std::mem::offset_of!(hipExternalSemaphoreSignalParams_st__bindgen_ty_1, reserved)
        - 24usize];
};
impl Default for hipExternalSemaphoreSignalParams_st__bindgen_ty_1 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipExternalSemaphoreSignalParams_st__bindgen_ty_1 {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(
            f,
            "hipExternalSemaphoreSignalParams_st__bindgen_ty_1 {{ fence: {:?}, nvSciSync: {:?}, keyedMutex: {:?}, reserved: {:?} }}",
            self.fence, self.nvSciSync, self.keyedMutex, self.reserved
        )
    }
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalSemaphoreSignalParams_st",
    ][::std::mem::size_of::<hipExternalSemaphoreSignalParams_st>() - 144usize];
    [
        "Alignment of hipExternalSemaphoreSignalParams_st",
    ][::std::mem::align_of::<hipExternalSemaphoreSignalParams_st>() - 8usize];
    [
        "Offset of field: hipExternalSemaphoreSignalParams_st::params",
    ][::std::mem::offset_of!(hipExternalSemaphoreSignalParams_st, params) - 0usize];
    [
        "Offset of field: hipExternalSemaphoreSignalParams_st::flags",
    ][::std::mem::offset_of!(hipExternalSemaphoreSignalParams_st, flags) - 72usize];
    [
        "Offset of field: hipExternalSemaphoreSignalParams_st::reserved",
    ][::std::mem::offset_of!(hipExternalSemaphoreSignalParams_st, reserved) - 76usize];
};
impl Default for hipExternalSemaphoreSignalParams_st {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipExternalSemaphoreSignalParams_st {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(
            f,
            "hipExternalSemaphoreSignalParams_st {{ params: {:?}, flags: {:?}, reserved: {:?} }}",
            self.params, self.flags, self.reserved
        )
    }
}
pub type hipExternalSemaphoreSignalParams = hipExternalSemaphoreSignalParams_st;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct hipExternalSemaphoreWaitParams_st {
    pub params: hipExternalSemaphoreWaitParams_st__bindgen_ty_1,
    pub flags: c_uint,
    pub reserved: [c_uint; 16usize],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct hipExternalSemaphoreWaitParams_st__bindgen_ty_1 {
    pub fence: hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_1,
    pub nvSciSync: hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_2,
    pub keyedMutex: hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_3,
    pub reserved: [c_uint; 10usize],
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_1 {
    pub value: c_ulonglong,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_1",
    ][::std::mem::size_of::<
        hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_1,
    >() - 8usize];
    [
        "Alignment of hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_1",
    ][::std::mem::align_of::<
        hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_1,
    >() - 8usize];
    [
        "Offset of field: hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_1::value",
    ][::std::mem::offset_of!(
        hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_1, value
    ) - 0usize];
};
#[repr(C)]
#[derive(Copy, Clone)]
pub union hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_2 {
    pub fence: *mut c_void,
    pub reserved: c_ulonglong,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_2",
    ][::std::mem::size_of::<
        hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_2,
    >() - 8usize];
    [
        "Alignment of hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_2",
    ][::std::mem::align_of::<
        hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_2,
    >() - 8usize];
    [
        "Offset of field: hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_2::fence",
    ][::std::mem::offset_of!(
        hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_2, fence
    ) - 0usize];
    [
        "Offset of field: hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_2::reserved",
    ][::std::mem::offset_of!(
        hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_2, reserved
    ) - 0usize];
};
impl Default for hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_2 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug
for hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_2 {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(
            f,
            "hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_2 {{ union }}"
        )
    }
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_3 {
    pub key: c_ulonglong,
    pub timeoutMs: c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_3",
    ][::std::mem::size_of::<
        hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_3,
    >() - 16usize];
    [
        "Alignment of hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_3",
    ][::std::mem::align_of::<
        hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_3,
    >() - 8usize];
    [
        "Offset of field: hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_3::key",
    ][::std::mem::offset_of!(
        hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_3, key
    ) - 0usize];
    [
        "Offset of field: hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_3::timeoutMs",
    ][::std::mem::offset_of!(
        hipExternalSemaphoreWaitParams_st__bindgen_ty_1__bindgen_ty_3, timeoutMs
    ) - 8usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalSemaphoreWaitParams_st__bindgen_ty_1",
    ][::std::mem::size_of::<hipExternalSemaphoreWaitParams_st__bindgen_ty_1>()
        - 72usize];
    [
        "Alignment of hipExternalSemaphoreWaitParams_st__bindgen_ty_1",
    ][::std::mem::align_of::<hipExternalSemaphoreWaitParams_st__bindgen_ty_1>()
        - 8usize];
    [
        "Offset of field: hipExternalSemaphoreWaitParams_st__bindgen_ty_1::fence",
    ][::std::mem::offset_of!(hipExternalSemaphoreWaitParams_st__bindgen_ty_1, fence)
        - 0usize];
    [
        "Offset of field: hipExternalSemaphoreWaitParams_st__bindgen_ty_1::nvSciSync",
    ][::std::mem::offset_of!(hipExternalSemaphoreWaitParams_st__bindgen_ty_1, nvSciSync)
        - 8usize];
    [
        "Offset of field: hipExternalSemaphoreWaitParams_st__bindgen_ty_1::keyedMutex",
    ][::std::mem::offset_of!(hipExternalSemaphoreWaitParams_st__bindgen_ty_1, keyedMutex)
        - 16usize];
    [
        "Offset of field: hipExternalSemaphoreWaitParams_st__bindgen_ty_1::reserved",
    ][::std::mem::offset_of!(hipExternalSemaphoreWaitParams_st__bindgen_ty_1, reserved)
        - 32usize];
};
impl Default for hipExternalSemaphoreWaitParams_st__bindgen_ty_1 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipExternalSemaphoreWaitParams_st__bindgen_ty_1 {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(
            f,
            "hipExternalSemaphoreWaitParams_st__bindgen_ty_1 {{ fence: {:?}, nvSciSync: {:?}, keyedMutex: {:?}, reserved: {:?} }}",
            self.fence, self.nvSciSync, self.keyedMutex, self.reserved
        )
    }
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalSemaphoreWaitParams_st",
    ][::std::mem::size_of::<hipExternalSemaphoreWaitParams_st>() - 144usize];
    [
        "Alignment of hipExternalSemaphoreWaitParams_st",
    ][::std::mem::align_of::<hipExternalSemaphoreWaitParams_st>() - 8usize];
    [
        "Offset of field: hipExternalSemaphoreWaitParams_st::params",
    ][::std::mem::offset_of!(hipExternalSemaphoreWaitParams_st, params) - 0usize];
    [
        "Offset of field: hipExternalSemaphoreWaitParams_st::flags",
    ][::std::mem::offset_of!(hipExternalSemaphoreWaitParams_st, flags) - 72usize];
    [
        "Offset of field: hipExternalSemaphoreWaitParams_st::reserved",
    ][::std::mem::offset_of!(hipExternalSemaphoreWaitParams_st, reserved) - 76usize];
};
impl Default for hipExternalSemaphoreWaitParams_st {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipExternalSemaphoreWaitParams_st {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(
            f,
            "hipExternalSemaphoreWaitParams_st {{ params: {:?}, flags: {:?}, reserved: {:?} }}",
            self.params, self.flags, self.reserved
        )
    }
}
pub type hipExternalSemaphoreWaitParams = hipExternalSemaphoreWaitParams_st;
#[repr(C)]
#[derive(Debug)]
pub struct ihipGraph {
    _unused: [u8; 0],
}
pub type hipGraph_t = *mut ihipGraph;
#[repr(C)]
#[derive(Debug)]
pub struct hipGraphNode {
    _unused: [u8; 0],
}
pub type hipGraphNode_t = *mut hipGraphNode;
#[repr(C)]
#[derive(Debug)]
pub struct hipGraphExec {
    _unused: [u8; 0],
}
pub type hipGraphExec_t = *mut hipGraphExec;
#[repr(C)]
#[derive(Debug)]
pub struct hipUserObject {
    _unused: [u8; 0],
}
pub type hipUserObject_t = *mut hipUserObject;
impl hipGraphNodeType {
    pub const hipGraphNodeTypeKernel: hipGraphNodeType = hipGraphNodeType(0);
    pub const hipGraphNodeTypeMemcpy: hipGraphNodeType = hipGraphNodeType(1);
    pub const hipGraphNodeTypeMemset: hipGraphNodeType = hipGraphNodeType(2);
    pub const hipGraphNodeTypeHost: hipGraphNodeType = hipGraphNodeType(3);
    pub const hipGraphNodeTypeGraph: hipGraphNodeType = hipGraphNodeType(4);
    pub const hipGraphNodeTypeEmpty: hipGraphNodeType = hipGraphNodeType(5);
    pub const hipGraphNodeTypeWaitEvent: hipGraphNodeType = hipGraphNodeType(6);
    pub const hipGraphNodeTypeEventRecord: hipGraphNodeType = hipGraphNodeType(7);
    pub const hipGraphNodeTypeExtSemaphoreSignal: hipGraphNodeType = hipGraphNodeType(8);
    pub const hipGraphNodeTypeExtSemaphoreWait: hipGraphNodeType = hipGraphNodeType(9);
    pub const hipGraphNodeTypeMemAlloc: hipGraphNodeType = hipGraphNodeType(10);
    pub const hipGraphNodeTypeMemFree: hipGraphNodeType = hipGraphNodeType(11);
    pub const hipGraphNodeTypeMemcpyFromSymbol: hipGraphNodeType = hipGraphNodeType(12);
    pub const hipGraphNodeTypeMemcpyToSymbol: hipGraphNodeType = hipGraphNodeType(13);
    pub const hipGraphNodeTypeBatchMemOp: hipGraphNodeType = hipGraphNodeType(14);
    pub const hipGraphNodeTypeCount: hipGraphNodeType = hipGraphNodeType(15);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipGraphNodeType(pub c_uint);
pub type hipHostFn_t = ::std::option::Option<
    unsafe extern "C" fn(userData: *mut c_void),
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipHostNodeParams {
    pub fn_: hipHostFn_t,
    pub userData: *mut c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hipHostNodeParams"][::std::mem::size_of::<hipHostNodeParams>() - 16usize];
    [
        "Alignment of hipHostNodeParams",
    ][::std::mem::align_of::<hipHostNodeParams>() - 8usize];
    [
        "Offset of field: hipHostNodeParams::fn_",
    ][::std::mem::offset_of!(hipHostNodeParams, fn_) - 0usize];
    [
        "Offset of field: hipHostNodeParams::userData",
    ][::std::mem::offset_of!(hipHostNodeParams, userData) - 8usize];
};
impl Default for hipHostNodeParams {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipKernelNodeParams {
    pub blockDim: dim3,
    pub extra: *mut *mut c_void,
    pub func: *mut c_void,
    pub gridDim: dim3,
    pub kernelParams: *mut *mut c_void,
    pub sharedMemBytes: c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipKernelNodeParams",
    ][::std::mem::size_of::<hipKernelNodeParams>() - 64usize];
    [
        "Alignment of hipKernelNodeParams",
    ][::std::mem::align_of::<hipKernelNodeParams>() - 8usize];
    [
        "Offset of field: hipKernelNodeParams::blockDim",
    ][::std::mem::offset_of!(hipKernelNodeParams, blockDim) - 0usize];
    [
        "Offset of field: hipKernelNodeParams::extra",
    ][::std::mem::offset_of!(hipKernelNodeParams, extra) - 16usize];
    [
        "Offset of field: hipKernelNodeParams::func",
    ][::std::mem::offset_of!(hipKernelNodeParams, func) - 24usize];
    [
        "Offset of field: hipKernelNodeParams::gridDim",
    ][::std::mem::offset_of!(hipKernelNodeParams, gridDim) - 32usize];
    [
        "Offset of field: hipKernelNodeParams::kernelParams",
    ][::std::mem::offset_of!(hipKernelNodeParams, kernelParams) - 48usize];
    [
        "Offset of field: hipKernelNodeParams::sharedMemBytes",
    ][::std::mem::offset_of!(hipKernelNodeParams, sharedMemBytes) - 56usize];
};
impl Default for hipKernelNodeParams {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipMemsetParams {
    pub dst: *mut c_void,
    pub elementSize: c_uint,
    pub height: usize,
    pub pitch: usize,
    pub value: c_uint,
    pub width: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hipMemsetParams"][::std::mem::size_of::<hipMemsetParams>() - 48usize];
    ["Alignment of hipMemsetParams"][::std::mem::align_of::<hipMemsetParams>() - 8usize];
    [
        "Offset of field: hipMemsetParams::dst",
    ][::std::mem::offset_of!(hipMemsetParams, dst) - 0usize];
    [
        "Offset of field: hipMemsetParams::elementSize",
    ][::std::mem::offset_of!(hipMemsetParams, elementSize) - 8usize];
    [
        "Offset of field: hipMemsetParams::height",
    ][::std::mem::offset_of!(hipMemsetParams, height) - 16usize];
    [
        "Offset of field: hipMemsetParams::pitch",
    ][::std::mem::offset_of!(hipMemsetParams, pitch) - 24usize];
    [
        "Offset of field: hipMemsetParams::value",
    ][::std::mem::offset_of!(hipMemsetParams, value) - 32usize];
    [
        "Offset of field: hipMemsetParams::width",
    ][::std::mem::offset_of!(hipMemsetParams, width) - 40usize];
};
impl Default for hipMemsetParams {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipMemAllocNodeParams {
    pub poolProps: hipMemPoolProps,
    pub accessDescs: *const hipMemAccessDesc,
    pub accessDescCount: usize,
    pub bytesize: usize,
    pub dptr: *mut c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipMemAllocNodeParams",
    ][::std::mem::size_of::<hipMemAllocNodeParams>() - 120usize];
    [
        "Alignment of hipMemAllocNodeParams",
    ][::std::mem::align_of::<hipMemAllocNodeParams>() - 8usize];
    [
        "Offset of field: hipMemAllocNodeParams::poolProps",
    ][::std::mem::offset_of!(hipMemAllocNodeParams, poolProps) - 0usize];
    [
        "Offset of field: hipMemAllocNodeParams::accessDescs",
    ][::std::mem::offset_of!(hipMemAllocNodeParams, accessDescs) - 88usize];
    [
        "Offset of field: hipMemAllocNodeParams::accessDescCount",
    ][::std::mem::offset_of!(hipMemAllocNodeParams, accessDescCount) - 96usize];
    [
        "Offset of field: hipMemAllocNodeParams::bytesize",
    ][::std::mem::offset_of!(hipMemAllocNodeParams, bytesize) - 104usize];
    [
        "Offset of field: hipMemAllocNodeParams::dptr",
    ][::std::mem::offset_of!(hipMemAllocNodeParams, dptr) - 112usize];
};
impl Default for hipMemAllocNodeParams {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl hipAccessProperty {
    pub const hipAccessPropertyNormal: hipAccessProperty = hipAccessProperty(0);
    pub const hipAccessPropertyStreaming: hipAccessProperty = hipAccessProperty(1);
    pub const hipAccessPropertyPersisting: hipAccessProperty = hipAccessProperty(2);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipAccessProperty(pub c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipAccessPolicyWindow {
    pub base_ptr: *mut c_void,
    pub hitProp: hipAccessProperty,
    pub hitRatio: f32,
    pub missProp: hipAccessProperty,
    pub num_bytes: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipAccessPolicyWindow",
    ][::std::mem::size_of::<hipAccessPolicyWindow>() - 32usize];
    [
        "Alignment of hipAccessPolicyWindow",
    ][::std::mem::align_of::<hipAccessPolicyWindow>() - 8usize];
    [
        "Offset of field: hipAccessPolicyWindow::base_ptr",
    ][::std::mem::offset_of!(hipAccessPolicyWindow, base_ptr) - 0usize];
    [
        "Offset of field: hipAccessPolicyWindow::hitProp",
    ][::std::mem::offset_of!(hipAccessPolicyWindow, hitProp) - 8usize];
    [
        "Offset of field: hipAccessPolicyWindow::hitRatio",
    ][::std::mem::offset_of!(hipAccessPolicyWindow, hitRatio) - 12usize];
    [
        "Offset of field: hipAccessPolicyWindow::missProp",
    ][::std::mem::offset_of!(hipAccessPolicyWindow, missProp) - 16usize];
    [
        "Offset of field: hipAccessPolicyWindow::num_bytes",
    ][::std::mem::offset_of!(hipAccessPolicyWindow, num_bytes) - 24usize];
};
impl Default for hipAccessPolicyWindow {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hipLaunchMemSyncDomainMap {
    pub default_: c_uchar,
    pub remote: c_uchar,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipLaunchMemSyncDomainMap",
    ][::std::mem::size_of::<hipLaunchMemSyncDomainMap>() - 2usize];
    [
        "Alignment of hipLaunchMemSyncDomainMap",
    ][::std::mem::align_of::<hipLaunchMemSyncDomainMap>() - 1usize];
    [
        "Offset of field: hipLaunchMemSyncDomainMap::default_",
    ][::std::mem::offset_of!(hipLaunchMemSyncDomainMap, default_) - 0usize];
    [
        "Offset of field: hipLaunchMemSyncDomainMap::remote",
    ][::std::mem::offset_of!(hipLaunchMemSyncDomainMap, remote) - 1usize];
};
impl hipLaunchMemSyncDomain {
    pub const hipLaunchMemSyncDomainDefault: hipLaunchMemSyncDomain = hipLaunchMemSyncDomain(
        0,
    );
    pub const hipLaunchMemSyncDomainRemote: hipLaunchMemSyncDomain = hipLaunchMemSyncDomain(
        1,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipLaunchMemSyncDomain(pub c_uint);
impl hipSynchronizationPolicy {
    pub const hipSyncPolicyAuto: hipSynchronizationPolicy = hipSynchronizationPolicy(1);
    pub const hipSyncPolicySpin: hipSynchronizationPolicy = hipSynchronizationPolicy(2);
    pub const hipSyncPolicyYield: hipSynchronizationPolicy = hipSynchronizationPolicy(3);
    pub const hipSyncPolicyBlockingSync: hipSynchronizationPolicy = hipSynchronizationPolicy(
        4,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipSynchronizationPolicy(pub c_uint);
impl hipLaunchAttributeID {
    pub const hipLaunchAttributeAccessPolicyWindow: hipLaunchAttributeID = hipLaunchAttributeID(
        1,
    );
    pub const hipLaunchAttributeCooperative: hipLaunchAttributeID = hipLaunchAttributeID(
        2,
    );
    pub const hipLaunchAttributeSynchronizationPolicy: hipLaunchAttributeID = hipLaunchAttributeID(
        3,
    );
    pub const hipLaunchAttributePriority: hipLaunchAttributeID = hipLaunchAttributeID(8);
    pub const hipLaunchAttributeMemSyncDomainMap: hipLaunchAttributeID = hipLaunchAttributeID(
        9,
    );
    pub const hipLaunchAttributeMemSyncDomain: hipLaunchAttributeID = hipLaunchAttributeID(
        10,
    );
    pub const hipLaunchAttributeMax: hipLaunchAttributeID = hipLaunchAttributeID(11);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipLaunchAttributeID(pub c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub union hipLaunchAttributeValue {
    pub pad: [c_char; 64usize],
    pub accessPolicyWindow: hipAccessPolicyWindow,
    pub cooperative: c_int,
    pub priority: c_int,
    pub syncPolicy: hipSynchronizationPolicy,
    pub memSyncDomainMap: hipLaunchMemSyncDomainMap,
    pub memSyncDomain: hipLaunchMemSyncDomain,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipLaunchAttributeValue",
    ][::std::mem::size_of::<hipLaunchAttributeValue>() - 64usize];
    [
        "Alignment of hipLaunchAttributeValue",
    ][::std::mem::align_of::<hipLaunchAttributeValue>() - 8usize];
    [
        "Offset of field: hipLaunchAttributeValue::pad",
    ][::std::mem::offset_of!(hipLaunchAttributeValue, pad) - 0usize];
    [
        "Offset of field: hipLaunchAttributeValue::accessPolicyWindow",
    ][::std::mem::offset_of!(hipLaunchAttributeValue, accessPolicyWindow) - 0usize];
    [
        "Offset of field: hipLaunchAttributeValue::cooperative",
    ][::std::mem::offset_of!(hipLaunchAttributeValue, cooperative) - 0usize];
    [
        "Offset of field: hipLaunchAttributeValue::priority",
    ][::std::mem::offset_of!(hipLaunchAttributeValue, priority) - 0usize];
    [
        "Offset of field: hipLaunchAttributeValue::syncPolicy",
    ][::std::mem::offset_of!(hipLaunchAttributeValue, syncPolicy) - 0usize];
    [
        "Offset of field: hipLaunchAttributeValue::memSyncDomainMap",
    ][::std::mem::offset_of!(hipLaunchAttributeValue, memSyncDomainMap) - 0usize];
    [
        "Offset of field: hipLaunchAttributeValue::memSyncDomain",
    ][::std::mem::offset_of!(hipLaunchAttributeValue, memSyncDomain) - 0usize];
};
impl Default for hipLaunchAttributeValue {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipLaunchAttributeValue {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(f, "hipLaunchAttributeValue {{ union }}")
    }
}
impl hipGraphExecUpdateResult {
    pub const hipGraphExecUpdateSuccess: hipGraphExecUpdateResult = hipGraphExecUpdateResult(
        0,
    );
    pub const hipGraphExecUpdateError: hipGraphExecUpdateResult = hipGraphExecUpdateResult(
        1,
    );
    pub const hipGraphExecUpdateErrorTopologyChanged: hipGraphExecUpdateResult = hipGraphExecUpdateResult(
        2,
    );
    pub const hipGraphExecUpdateErrorNodeTypeChanged: hipGraphExecUpdateResult = hipGraphExecUpdateResult(
        3,
    );
    pub const hipGraphExecUpdateErrorFunctionChanged: hipGraphExecUpdateResult = hipGraphExecUpdateResult(
        4,
    );
    pub const hipGraphExecUpdateErrorParametersChanged: hipGraphExecUpdateResult = hipGraphExecUpdateResult(
        5,
    );
    pub const hipGraphExecUpdateErrorNotSupported: hipGraphExecUpdateResult = hipGraphExecUpdateResult(
        6,
    );
    pub const hipGraphExecUpdateErrorUnsupportedFunctionChange: hipGraphExecUpdateResult = hipGraphExecUpdateResult(
        7,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipGraphExecUpdateResult(pub c_uint);
impl hipStreamCaptureMode {
    pub const hipStreamCaptureModeGlobal: hipStreamCaptureMode = hipStreamCaptureMode(0);
    pub const hipStreamCaptureModeThreadLocal: hipStreamCaptureMode = hipStreamCaptureMode(
        1,
    );
    pub const hipStreamCaptureModeRelaxed: hipStreamCaptureMode = hipStreamCaptureMode(
        2,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipStreamCaptureMode(pub c_uint);
impl hipStreamCaptureStatus {
    pub const hipStreamCaptureStatusNone: hipStreamCaptureStatus = hipStreamCaptureStatus(
        0,
    );
    pub const hipStreamCaptureStatusActive: hipStreamCaptureStatus = hipStreamCaptureStatus(
        1,
    );
    pub const hipStreamCaptureStatusInvalidated: hipStreamCaptureStatus = hipStreamCaptureStatus(
        2,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipStreamCaptureStatus(pub c_uint);
impl hipGraphMemAttributeType {
    pub const hipGraphMemAttrUsedMemCurrent: hipGraphMemAttributeType = hipGraphMemAttributeType(
        0,
    );
    pub const hipGraphMemAttrUsedMemHigh: hipGraphMemAttributeType = hipGraphMemAttributeType(
        1,
    );
    pub const hipGraphMemAttrReservedMemCurrent: hipGraphMemAttributeType = hipGraphMemAttributeType(
        2,
    );
    pub const hipGraphMemAttrReservedMemHigh: hipGraphMemAttributeType = hipGraphMemAttributeType(
        3,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipGraphMemAttributeType(pub c_uint);
impl hipGraphInstantiateResult {
    pub const hipGraphInstantiateSuccess: hipGraphInstantiateResult = hipGraphInstantiateResult(
        0,
    );
    pub const hipGraphInstantiateError: hipGraphInstantiateResult = hipGraphInstantiateResult(
        1,
    );
    pub const hipGraphInstantiateInvalidStructure: hipGraphInstantiateResult = hipGraphInstantiateResult(
        2,
    );
    pub const hipGraphInstantiateNodeOperationNotSupported: hipGraphInstantiateResult = hipGraphInstantiateResult(
        3,
    );
    pub const hipGraphInstantiateMultipleDevicesNotSupported: hipGraphInstantiateResult = hipGraphInstantiateResult(
        4,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipGraphInstantiateResult(pub c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipGraphInstantiateParams {
    pub errNode_out: hipGraphNode_t,
    pub flags: c_ulonglong,
    pub result_out: hipGraphInstantiateResult,
    pub uploadStream: hipStream_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipGraphInstantiateParams",
    ][::std::mem::size_of::<hipGraphInstantiateParams>() - 32usize];
    [
        "Alignment of hipGraphInstantiateParams",
    ][::std::mem::align_of::<hipGraphInstantiateParams>() - 8usize];
    [
        "Offset of field: hipGraphInstantiateParams::errNode_out",
    ][::std::mem::offset_of!(hipGraphInstantiateParams, errNode_out) - 0usize];
    [
        "Offset of field: hipGraphInstantiateParams::flags",
    ][::std::mem::offset_of!(hipGraphInstantiateParams, flags) - 8usize];
    [
        "Offset of field: hipGraphInstantiateParams::result_out",
    ][::std::mem::offset_of!(hipGraphInstantiateParams, result_out) - 16usize];
    [
        "Offset of field: hipGraphInstantiateParams::uploadStream",
    ][::std::mem::offset_of!(hipGraphInstantiateParams, uploadStream) - 24usize];
};
impl Default for hipGraphInstantiateParams {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct hipMemAllocationProp {
    pub type_: hipMemAllocationType,
    pub __bindgen_anon_1: hipMemAllocationProp__bindgen_ty_1,
    pub location: hipMemLocation,
    pub win32HandleMetaData: *mut c_void,
    pub allocFlags: hipMemAllocationProp__bindgen_ty_2,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union hipMemAllocationProp__bindgen_ty_1 {
    pub requestedHandleType: hipMemAllocationHandleType,
    pub requestedHandleTypes: hipMemAllocationHandleType,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipMemAllocationProp__bindgen_ty_1",
    ][::std::mem::size_of::<hipMemAllocationProp__bindgen_ty_1>() - 4usize];
    [
        "Alignment of hipMemAllocationProp__bindgen_ty_1",
    ][::std::mem::align_of::<hipMemAllocationProp__bindgen_ty_1>() - 4usize];
    [
        "Offset of field: hipMemAllocationProp__bindgen_ty_1::requestedHandleType",
    ][::std::mem::offset_of!(hipMemAllocationProp__bindgen_ty_1, requestedHandleType)
        - 0usize];
    [
        "Offset of field: hipMemAllocationProp__bindgen_ty_1::requestedHandleTypes",
    ][::std::mem::offset_of!(hipMemAllocationProp__bindgen_ty_1, requestedHandleTypes)
        - 0usize];
};
impl Default for hipMemAllocationProp__bindgen_ty_1 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipMemAllocationProp__bindgen_ty_1 {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(f, "hipMemAllocationProp__bindgen_ty_1 {{ union }}")
    }
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hipMemAllocationProp__bindgen_ty_2 {
    pub compressionType: c_uchar,
    pub gpuDirectRDMACapable: c_uchar,
    pub usage: c_ushort,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipMemAllocationProp__bindgen_ty_2",
    ][::std::mem::size_of::<hipMemAllocationProp__bindgen_ty_2>() - 4usize];
    [
        "Alignment of hipMemAllocationProp__bindgen_ty_2",
    ][::std::mem::align_of::<hipMemAllocationProp__bindgen_ty_2>() - 2usize];
    [
        "Offset of field: hipMemAllocationProp__bindgen_ty_2::compressionType",
    ][::std::mem::offset_of!(hipMemAllocationProp__bindgen_ty_2, compressionType)
        - 0usize];
    [
        "Offset of field: hipMemAllocationProp__bindgen_ty_2::gpuDirectRDMACapable",
    ][::std::mem::offset_of!(hipMemAllocationProp__bindgen_ty_2, gpuDirectRDMACapable)
        - 1usize];
    [
        "Offset of field: hipMemAllocationProp__bindgen_ty_2::usage",
    ][::std::mem::offset_of!(hipMemAllocationProp__bindgen_ty_2, usage) - 2usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipMemAllocationProp",
    ][::std::mem::size_of::<hipMemAllocationProp>() - 32usize];
    [
        "Alignment of hipMemAllocationProp",
    ][::std::mem::align_of::<hipMemAllocationProp>() - 8usize];
    [
        "Offset of field: hipMemAllocationProp::type_",
    ][::std::mem::offset_of!(hipMemAllocationProp, type_) - 0usize];
    [
        "Offset of field: hipMemAllocationProp::location",
    ][::std::mem::offset_of!(hipMemAllocationProp, location) - 8usize];
    [
        "Offset of field: hipMemAllocationProp::win32HandleMetaData",
    ][::std::mem::offset_of!(hipMemAllocationProp, win32HandleMetaData) - 16usize];
    [
        "Offset of field: hipMemAllocationProp::allocFlags",
    ][::std::mem::offset_of!(hipMemAllocationProp, allocFlags) - 24usize];
};
impl Default for hipMemAllocationProp {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipMemAllocationProp {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(
            f,
            "hipMemAllocationProp {{ type: {:?}, __bindgen_anon_1: {:?}, location: {:?}, win32HandleMetaData: {:?}, allocFlags: {:?} }}",
            self.type_, self.__bindgen_anon_1, self.location, self.win32HandleMetaData,
            self.allocFlags
        )
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipExternalSemaphoreSignalNodeParams {
    pub extSemArray: *mut hipExternalSemaphore_t,
    pub paramsArray: *const hipExternalSemaphoreSignalParams,
    pub numExtSems: c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalSemaphoreSignalNodeParams",
    ][::std::mem::size_of::<hipExternalSemaphoreSignalNodeParams>() - 24usize];
    [
        "Alignment of hipExternalSemaphoreSignalNodeParams",
    ][::std::mem::align_of::<hipExternalSemaphoreSignalNodeParams>() - 8usize];
    [
        "Offset of field: hipExternalSemaphoreSignalNodeParams::extSemArray",
    ][::std::mem::offset_of!(hipExternalSemaphoreSignalNodeParams, extSemArray)
        - 0usize];
    [
        "Offset of field: hipExternalSemaphoreSignalNodeParams::paramsArray",
    ][::std::mem::offset_of!(hipExternalSemaphoreSignalNodeParams, paramsArray)
        - 8usize];
    [
        "Offset of field: hipExternalSemaphoreSignalNodeParams::numExtSems",
    ][::std::mem::offset_of!(hipExternalSemaphoreSignalNodeParams, numExtSems)
        - 16usize];
};
impl Default for hipExternalSemaphoreSignalNodeParams {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipExternalSemaphoreWaitNodeParams {
    pub extSemArray: *mut hipExternalSemaphore_t,
    pub paramsArray: *const hipExternalSemaphoreWaitParams,
    pub numExtSems: c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipExternalSemaphoreWaitNodeParams",
    ][::std::mem::size_of::<hipExternalSemaphoreWaitNodeParams>() - 24usize];
    [
        "Alignment of hipExternalSemaphoreWaitNodeParams",
    ][::std::mem::align_of::<hipExternalSemaphoreWaitNodeParams>() - 8usize];
    [
        "Offset of field: hipExternalSemaphoreWaitNodeParams::extSemArray",
    ][::std::mem::offset_of!(hipExternalSemaphoreWaitNodeParams, extSemArray) - 0usize];
    [
        "Offset of field: hipExternalSemaphoreWaitNodeParams::paramsArray",
    ][::std::mem::offset_of!(hipExternalSemaphoreWaitNodeParams, paramsArray) - 8usize];
    [
        "Offset of field: hipExternalSemaphoreWaitNodeParams::numExtSems",
    ][::std::mem::offset_of!(hipExternalSemaphoreWaitNodeParams, numExtSems) - 16usize];
};
impl Default for hipExternalSemaphoreWaitNodeParams {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug)]
pub struct ihipMemGenericAllocationHandle {
    _unused: [u8; 0],
}
pub type hipMemGenericAllocationHandle_t = *mut ihipMemGenericAllocationHandle;
impl hipMemAllocationGranularity_flags {
    pub const hipMemAllocationGranularityMinimum: hipMemAllocationGranularity_flags = hipMemAllocationGranularity_flags(
        0,
    );
    pub const hipMemAllocationGranularityRecommended: hipMemAllocationGranularity_flags = hipMemAllocationGranularity_flags(
        1,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipMemAllocationGranularity_flags(pub c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipMemcpyNodeParams {
    pub flags: c_int,
    pub reserved: [c_int; 3usize],
    pub copyParams: hipMemcpy3DParms,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipMemcpyNodeParams",
    ][::std::mem::size_of::<hipMemcpyNodeParams>() - 176usize];
    [
        "Alignment of hipMemcpyNodeParams",
    ][::std::mem::align_of::<hipMemcpyNodeParams>() - 8usize];
    [
        "Offset of field: hipMemcpyNodeParams::flags",
    ][::std::mem::offset_of!(hipMemcpyNodeParams, flags) - 0usize];
    [
        "Offset of field: hipMemcpyNodeParams::reserved",
    ][::std::mem::offset_of!(hipMemcpyNodeParams, reserved) - 4usize];
    [
        "Offset of field: hipMemcpyNodeParams::copyParams",
    ][::std::mem::offset_of!(hipMemcpyNodeParams, copyParams) - 16usize];
};
impl Default for hipMemcpyNodeParams {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipChildGraphNodeParams {
    pub graph: hipGraph_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipChildGraphNodeParams",
    ][::std::mem::size_of::<hipChildGraphNodeParams>() - 8usize];
    [
        "Alignment of hipChildGraphNodeParams",
    ][::std::mem::align_of::<hipChildGraphNodeParams>() - 8usize];
    [
        "Offset of field: hipChildGraphNodeParams::graph",
    ][::std::mem::offset_of!(hipChildGraphNodeParams, graph) - 0usize];
};
impl Default for hipChildGraphNodeParams {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipEventWaitNodeParams {
    pub event: hipEvent_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipEventWaitNodeParams",
    ][::std::mem::size_of::<hipEventWaitNodeParams>() - 8usize];
    [
        "Alignment of hipEventWaitNodeParams",
    ][::std::mem::align_of::<hipEventWaitNodeParams>() - 8usize];
    [
        "Offset of field: hipEventWaitNodeParams::event",
    ][::std::mem::offset_of!(hipEventWaitNodeParams, event) - 0usize];
};
impl Default for hipEventWaitNodeParams {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipEventRecordNodeParams {
    pub event: hipEvent_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipEventRecordNodeParams",
    ][::std::mem::size_of::<hipEventRecordNodeParams>() - 8usize];
    [
        "Alignment of hipEventRecordNodeParams",
    ][::std::mem::align_of::<hipEventRecordNodeParams>() - 8usize];
    [
        "Offset of field: hipEventRecordNodeParams::event",
    ][::std::mem::offset_of!(hipEventRecordNodeParams, event) - 0usize];
};
impl Default for hipEventRecordNodeParams {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipMemFreeNodeParams {
    pub dptr: *mut c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipMemFreeNodeParams",
    ][::std::mem::size_of::<hipMemFreeNodeParams>() - 8usize];
    [
        "Alignment of hipMemFreeNodeParams",
    ][::std::mem::align_of::<hipMemFreeNodeParams>() - 8usize];
    [
        "Offset of field: hipMemFreeNodeParams::dptr",
    ][::std::mem::offset_of!(hipMemFreeNodeParams, dptr) - 0usize];
};
impl Default for hipMemFreeNodeParams {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct hipGraphNodeParams {
    pub type_: hipGraphNodeType,
    pub reserved0: [c_int; 3usize],
    pub __bindgen_anon_1: hipGraphNodeParams__bindgen_ty_1,
    pub reserved2: c_longlong,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union hipGraphNodeParams__bindgen_ty_1 {
    pub reserved1: [c_longlong; 29usize],
    pub kernel: hipKernelNodeParams,
    pub memcpy: hipMemcpyNodeParams,
    pub memset: hipMemsetParams,
    pub host: hipHostNodeParams,
    pub graph: hipChildGraphNodeParams,
    pub eventWait: hipEventWaitNodeParams,
    pub eventRecord: hipEventRecordNodeParams,
    pub extSemSignal: hipExternalSemaphoreSignalNodeParams,
    pub extSemWait: hipExternalSemaphoreWaitNodeParams,
    pub alloc: hipMemAllocNodeParams,
    pub free: hipMemFreeNodeParams,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipGraphNodeParams__bindgen_ty_1",
    ][::std::mem::size_of::<hipGraphNodeParams__bindgen_ty_1>() - 232usize];
    [
        "Alignment of hipGraphNodeParams__bindgen_ty_1",
    ][::std::mem::align_of::<hipGraphNodeParams__bindgen_ty_1>() - 8usize];
    [
        "Offset of field: hipGraphNodeParams__bindgen_ty_1::reserved1",
    ][::std::mem::offset_of!(hipGraphNodeParams__bindgen_ty_1, reserved1) - 0usize];
    [
        "Offset of field: hipGraphNodeParams__bindgen_ty_1::kernel",
    ][::std::mem::offset_of!(hipGraphNodeParams__bindgen_ty_1, kernel) - 0usize];
    [
        "Offset of field: hipGraphNodeParams__bindgen_ty_1::memcpy",
    ][::std::mem::offset_of!(hipGraphNodeParams__bindgen_ty_1, memcpy) - 0usize];
    [
        "Offset of field: hipGraphNodeParams__bindgen_ty_1::memset",
    ][::std::mem::offset_of!(hipGraphNodeParams__bindgen_ty_1, memset) - 0usize];
    [
        "Offset of field: hipGraphNodeParams__bindgen_ty_1::host",
    ][::std::mem::offset_of!(hipGraphNodeParams__bindgen_ty_1, host) - 0usize];
    [
        "Offset of field: hipGraphNodeParams__bindgen_ty_1::graph",
    ][::std::mem::offset_of!(hipGraphNodeParams__bindgen_ty_1, graph) - 0usize];
    [
        "Offset of field: hipGraphNodeParams__bindgen_ty_1::eventWait",
    ][::std::mem::offset_of!(hipGraphNodeParams__bindgen_ty_1, eventWait) - 0usize];
    [
        "Offset of field: hipGraphNodeParams__bindgen_ty_1::eventRecord",
    ][::std::mem::offset_of!(hipGraphNodeParams__bindgen_ty_1, eventRecord) - 0usize];
    [
        "Offset of field: hipGraphNodeParams__bindgen_ty_1::extSemSignal",
    ][::std::mem::offset_of!(hipGraphNodeParams__bindgen_ty_1, extSemSignal) - 0usize];
    [
        "Offset of field: hipGraphNodeParams__bindgen_ty_1::extSemWait",
    ][::std::mem::offset_of!(hipGraphNodeParams__bindgen_ty_1, extSemWait) - 0usize];
    [
        "Offset of field: hipGraphNodeParams__bindgen_ty_1::alloc",
    ][::std::mem::offset_of!(hipGraphNodeParams__bindgen_ty_1, alloc) - 0usize];
    [
        "Offset of field: hipGraphNodeParams__bindgen_ty_1::free",
    ][::std::mem::offset_of!(hipGraphNodeParams__bindgen_ty_1, free) - 0usize];
};
impl Default for hipGraphNodeParams__bindgen_ty_1 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipGraphNodeParams__bindgen_ty_1 {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(f, "hipGraphNodeParams__bindgen_ty_1 {{ union }}")
    }
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipGraphNodeParams",
    ][::std::mem::size_of::<hipGraphNodeParams>() - 256usize];
    [
        "Alignment of hipGraphNodeParams",
    ][::std::mem::align_of::<hipGraphNodeParams>() - 8usize];
    [
        "Offset of field: hipGraphNodeParams::type_",
    ][::std::mem::offset_of!(hipGraphNodeParams, type_) - 0usize];
    [
        "Offset of field: hipGraphNodeParams::reserved0",
    ][::std::mem::offset_of!(hipGraphNodeParams, reserved0) - 4usize];
    [
        "Offset of field: hipGraphNodeParams::reserved2",
    ][::std::mem::offset_of!(hipGraphNodeParams, reserved2) - 248usize];
};
impl Default for hipGraphNodeParams {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipGraphNodeParams {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(
            f,
            "hipGraphNodeParams {{ type: {:?}, reserved0: {:?}, __bindgen_anon_1: {:?}, reserved2: {:?} }}",
            self.type_, self.reserved0, self.__bindgen_anon_1, self.reserved2
        )
    }
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hipGraphEdgeData {
    pub from_port: c_uchar,
    pub reserved: [c_uchar; 5usize],
    pub to_port: c_uchar,
    pub type_: c_uchar,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hipGraphEdgeData"][::std::mem::size_of::<hipGraphEdgeData>() - 8usize];
    [
        "Alignment of hipGraphEdgeData",
    ][::std::mem::align_of::<hipGraphEdgeData>() - 1usize];
    [
        "Offset of field: hipGraphEdgeData::from_port",
    ][::std::mem::offset_of!(hipGraphEdgeData, from_port) - 0usize];
    [
        "Offset of field: hipGraphEdgeData::reserved",
    ][::std::mem::offset_of!(hipGraphEdgeData, reserved) - 1usize];
    [
        "Offset of field: hipGraphEdgeData::to_port",
    ][::std::mem::offset_of!(hipGraphEdgeData, to_port) - 6usize];
    [
        "Offset of field: hipGraphEdgeData::type_",
    ][::std::mem::offset_of!(hipGraphEdgeData, type_) - 7usize];
};
#[repr(C)]
#[derive(Copy, Clone)]
pub struct hipLaunchAttribute_st {
    pub id: hipLaunchAttributeID,
    pub pad: [c_char; 4usize],
    pub __bindgen_anon_1: hipLaunchAttribute_st__bindgen_ty_1,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union hipLaunchAttribute_st__bindgen_ty_1 {
    pub val: hipLaunchAttributeValue,
    pub value: hipLaunchAttributeValue,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipLaunchAttribute_st__bindgen_ty_1",
    ][::std::mem::size_of::<hipLaunchAttribute_st__bindgen_ty_1>() - 64usize];
    [
        "Alignment of hipLaunchAttribute_st__bindgen_ty_1",
    ][::std::mem::align_of::<hipLaunchAttribute_st__bindgen_ty_1>() - 8usize];
    [
        "Offset of field: hipLaunchAttribute_st__bindgen_ty_1::val",
    ][::std::mem::offset_of!(hipLaunchAttribute_st__bindgen_ty_1, val) - 0usize];
    [
        "Offset of field: hipLaunchAttribute_st__bindgen_ty_1::value",
    ][::std::mem::offset_of!(hipLaunchAttribute_st__bindgen_ty_1, value) - 0usize];
};
impl Default for hipLaunchAttribute_st__bindgen_ty_1 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipLaunchAttribute_st__bindgen_ty_1 {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(f, "hipLaunchAttribute_st__bindgen_ty_1 {{ union }}")
    }
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipLaunchAttribute_st",
    ][::std::mem::size_of::<hipLaunchAttribute_st>() - 72usize];
    [
        "Alignment of hipLaunchAttribute_st",
    ][::std::mem::align_of::<hipLaunchAttribute_st>() - 8usize];
    [
        "Offset of field: hipLaunchAttribute_st::id",
    ][::std::mem::offset_of!(hipLaunchAttribute_st, id) - 0usize];
    [
        "Offset of field: hipLaunchAttribute_st::pad",
    ][::std::mem::offset_of!(hipLaunchAttribute_st, pad) - 4usize];
};
impl Default for hipLaunchAttribute_st {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl ::std::fmt::Debug for hipLaunchAttribute_st {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        write!(
            f, "hipLaunchAttribute_st {{ id: {:?}, pad: {:?}, __bindgen_anon_1: {:?} }}",
            self.id, self.pad, self.__bindgen_anon_1
        )
    }
}
pub type hipLaunchAttribute = hipLaunchAttribute_st;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipLaunchConfig_st {
    pub gridDim: dim3,
    pub blockDim: dim3,
    pub dynamicSmemBytes: usize,
    pub stream: hipStream_t,
    pub attrs: *mut hipLaunchAttribute,
    pub numAttrs: c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipLaunchConfig_st",
    ][::std::mem::size_of::<hipLaunchConfig_st>() - 56usize];
    [
        "Alignment of hipLaunchConfig_st",
    ][::std::mem::align_of::<hipLaunchConfig_st>() - 8usize];
    [
        "Offset of field: hipLaunchConfig_st::gridDim",
    ][::std::mem::offset_of!(hipLaunchConfig_st, gridDim) - 0usize];
    [
        "Offset of field: hipLaunchConfig_st::blockDim",
    ][::std::mem::offset_of!(hipLaunchConfig_st, blockDim) - 12usize];
    [
        "Offset of field: hipLaunchConfig_st::dynamicSmemBytes",
    ][::std::mem::offset_of!(hipLaunchConfig_st, dynamicSmemBytes) - 24usize];
    [
        "Offset of field: hipLaunchConfig_st::stream",
    ][::std::mem::offset_of!(hipLaunchConfig_st, stream) - 32usize];
    [
        "Offset of field: hipLaunchConfig_st::attrs",
    ][::std::mem::offset_of!(hipLaunchConfig_st, attrs) - 40usize];
    [
        "Offset of field: hipLaunchConfig_st::numAttrs",
    ][::std::mem::offset_of!(hipLaunchConfig_st, numAttrs) - 48usize];
};
impl Default for hipLaunchConfig_st {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type hipLaunchConfig_t = hipLaunchConfig_st;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct HIP_LAUNCH_CONFIG_st {
    pub gridDimX: c_uint,
    pub gridDimY: c_uint,
    pub gridDimZ: c_uint,
    pub blockDimX: c_uint,
    pub blockDimY: c_uint,
    pub blockDimZ: c_uint,
    pub sharedMemBytes: c_uint,
    pub hStream: hipStream_t,
    pub attrs: *mut hipLaunchAttribute,
    pub numAttrs: c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of HIP_LAUNCH_CONFIG_st",
    ][::std::mem::size_of::<HIP_LAUNCH_CONFIG_st>() - 56usize];
    [
        "Alignment of HIP_LAUNCH_CONFIG_st",
    ][::std::mem::align_of::<HIP_LAUNCH_CONFIG_st>() - 8usize];
    [
        "Offset of field: HIP_LAUNCH_CONFIG_st::gridDimX",
    ][::std::mem::offset_of!(HIP_LAUNCH_CONFIG_st, gridDimX) - 0usize];
    [
        "Offset of field: HIP_LAUNCH_CONFIG_st::gridDimY",
    ][::std::mem::offset_of!(HIP_LAUNCH_CONFIG_st, gridDimY) - 4usize];
    [
        "Offset of field: HIP_LAUNCH_CONFIG_st::gridDimZ",
    ][::std::mem::offset_of!(HIP_LAUNCH_CONFIG_st, gridDimZ) - 8usize];
    [
        "Offset of field: HIP_LAUNCH_CONFIG_st::blockDimX",
    ][::std::mem::offset_of!(HIP_LAUNCH_CONFIG_st, blockDimX) - 12usize];
    [
        "Offset of field: HIP_LAUNCH_CONFIG_st::blockDimY",
    ][::std::mem::offset_of!(HIP_LAUNCH_CONFIG_st, blockDimY) - 16usize];
    [
        "Offset of field: HIP_LAUNCH_CONFIG_st::blockDimZ",
    ][::std::mem::offset_of!(HIP_LAUNCH_CONFIG_st, blockDimZ) - 20usize];
    [
        "Offset of field: HIP_LAUNCH_CONFIG_st::sharedMemBytes",
    ][::std::mem::offset_of!(HIP_LAUNCH_CONFIG_st, sharedMemBytes) - 24usize];
    [
        "Offset of field: HIP_LAUNCH_CONFIG_st::hStream",
    ][::std::mem::offset_of!(HIP_LAUNCH_CONFIG_st, hStream) - 32usize];
    [
        "Offset of field: HIP_LAUNCH_CONFIG_st::attrs",
    ][::std::mem::offset_of!(HIP_LAUNCH_CONFIG_st, attrs) - 40usize];
    [
        "Offset of field: HIP_LAUNCH_CONFIG_st::numAttrs",
    ][::std::mem::offset_of!(HIP_LAUNCH_CONFIG_st, numAttrs) - 48usize];
};
impl Default for HIP_LAUNCH_CONFIG_st {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type HIP_LAUNCH_CONFIG = HIP_LAUNCH_CONFIG_st;
impl hipMemRangeHandleType {
    pub const hipMemRangeHandleTypeDmaBufFd: hipMemRangeHandleType = hipMemRangeHandleType(
        1,
    );
    pub const hipMemRangeHandleTypeMax: hipMemRangeHandleType = hipMemRangeHandleType(
        2147483647,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hipMemRangeHandleType(pub c_uint);
pub type hipStreamCallback_t = ::std::option::Option<
    unsafe extern "C" fn(stream: hipStream_t, status: hipError_t, userData: *mut c_void),
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hipDeviceProp_tR0000 {
    pub name: [c_char; 256usize],
    pub totalGlobalMem: usize,
    pub sharedMemPerBlock: usize,
    pub regsPerBlock: c_int,
    pub warpSize: c_int,
    pub maxThreadsPerBlock: c_int,
    pub maxThreadsDim: [c_int; 3usize],
    pub maxGridSize: [c_int; 3usize],
    pub clockRate: c_int,
    pub memoryClockRate: c_int,
    pub memoryBusWidth: c_int,
    pub totalConstMem: usize,
    pub major: c_int,
    pub minor: c_int,
    pub multiProcessorCount: c_int,
    pub l2CacheSize: c_int,
    pub maxThreadsPerMultiProcessor: c_int,
    pub computeMode: c_int,
    pub clockInstructionRate: c_int,
    pub arch: hipDeviceArch_t,
    pub concurrentKernels: c_int,
    pub pciDomainID: c_int,
    pub pciBusID: c_int,
    pub pciDeviceID: c_int,
    pub maxSharedMemoryPerMultiProcessor: usize,
    pub isMultiGpuBoard: c_int,
    pub canMapHostMemory: c_int,
    pub gcnArch: c_int,
    pub gcnArchName: [c_char; 256usize],
    pub integrated: c_int,
    pub cooperativeLaunch: c_int,
    pub cooperativeMultiDeviceLaunch: c_int,
    pub maxTexture1DLinear: c_int,
    pub maxTexture1D: c_int,
    pub maxTexture2D: [c_int; 2usize],
    pub maxTexture3D: [c_int; 3usize],
    pub hdpMemFlushCntl: *mut c_uint,
    pub hdpRegFlushCntl: *mut c_uint,
    pub memPitch: usize,
    pub textureAlignment: usize,
    pub texturePitchAlignment: usize,
    pub kernelExecTimeoutEnabled: c_int,
    pub ECCEnabled: c_int,
    pub tccDriver: c_int,
    pub cooperativeMultiDeviceUnmatchedFunc: c_int,
    pub cooperativeMultiDeviceUnmatchedGridDim: c_int,
    pub cooperativeMultiDeviceUnmatchedBlockDim: c_int,
    pub cooperativeMultiDeviceUnmatchedSharedMem: c_int,
    pub isLargeBar: c_int,
    pub asicRevision: c_int,
    pub managedMemory: c_int,
    pub directManagedMemAccessFromHost: c_int,
    pub concurrentManagedAccess: c_int,
    pub pageableMemoryAccess: c_int,
    pub pageableMemoryAccessUsesHostPageTables: c_int,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hipDeviceProp_tR0000",
    ][::std::mem::size_of::<hipDeviceProp_tR0000>() - 792usize];
    [
        "Alignment of hipDeviceProp_tR0000",
    ][::std::mem::align_of::<hipDeviceProp_tR0000>() - 8usize];
    [
        "Offset of field: hipDeviceProp_tR0000::name",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, name) - 0usize];
    [
        "Offset of field: hipDeviceProp_tR0000::totalGlobalMem",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, totalGlobalMem) - 256usize];
    [
        "Offset of field: hipDeviceProp_tR0000::sharedMemPerBlock",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, sharedMemPerBlock) - 264usize];
    [
        "Offset of field: hipDeviceProp_tR0000::regsPerBlock",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, regsPerBlock) - 272usize];
    [
        "Offset of field: hipDeviceProp_tR0000::warpSize",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, warpSize) - 276usize];
    [
        "Offset of field: hipDeviceProp_tR0000::maxThreadsPerBlock",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, maxThreadsPerBlock) - 280usize];
    [
        "Offset of field: hipDeviceProp_tR0000::maxThreadsDim",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, maxThreadsDim) - 284usize];
    [
        "Offset of field: hipDeviceProp_tR0000::maxGridSize",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, maxGridSize) - 296usize];
    [
        "Offset of field: hipDeviceProp_tR0000::clockRate",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, clockRate) - 308usize];
    [
        "Offset of field: hipDeviceProp_tR0000::memoryClockRate",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, memoryClockRate) - 312usize];
    [
        "Offset of field: hipDeviceProp_tR0000::memoryBusWidth",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, memoryBusWidth) - 316usize];
    [
        "Offset of field: hipDeviceProp_tR0000::totalConstMem",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, totalConstMem) - 320usize];
    [
        "Offset of field: hipDeviceProp_tR0000::major",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, major) - 328usize];
    [
        "Offset of field: hipDeviceProp_tR0000::minor",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, minor) - 332usize];
    [
        "Offset of field: hipDeviceProp_tR0000::multiProcessorCount",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, multiProcessorCount) - 336usize];
    [
        "Offset of field: hipDeviceProp_tR0000::l2CacheSize",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, l2CacheSize) - 340usize];
    [
        "Offset of field: hipDeviceProp_tR0000::maxThreadsPerMultiProcessor",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, maxThreadsPerMultiProcessor)
        - 344usize];
    [
        "Offset of field: hipDeviceProp_tR0000::computeMode",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, computeMode) - 348usize];
    [
        "Offset of field: hipDeviceProp_tR0000::clockInstructionRate",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, clockInstructionRate) - 352usize];
    [
        "Offset of field: hipDeviceProp_tR0000::arch",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, arch) - 356usize];
    [
        "Offset of field: hipDeviceProp_tR0000::concurrentKernels",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, concurrentKernels) - 360usize];
    [
        "Offset of field: hipDeviceProp_tR0000::pciDomainID",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, pciDomainID) - 364usize];
    [
        "Offset of field: hipDeviceProp_tR0000::pciBusID",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, pciBusID) - 368usize];
    [
        "Offset of field: hipDeviceProp_tR0000::pciDeviceID",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, pciDeviceID) - 372usize];
    [
        "Offset of field: hipDeviceProp_tR0000::maxSharedMemoryPerMultiProcessor",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, maxSharedMemoryPerMultiProcessor)
        - 376usize];
    [
        "Offset of field: hipDeviceProp_tR0000::isMultiGpuBoard",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, isMultiGpuBoard) - 384usize];
    [
        "Offset of field: hipDeviceProp_tR0000::canMapHostMemory",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, canMapHostMemory) - 388usize];
    [
        "Offset of field: hipDeviceProp_tR0000::gcnArch",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, gcnArch) - 392usize];
    [
        "Offset of field: hipDeviceProp_tR0000::gcnArchName",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, gcnArchName) - 396usize];
    [
        "Offset of field: hipDeviceProp_tR0000::integrated",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, integrated) - 652usize];
    [
        "Offset of field: hipDeviceProp_tR0000::cooperativeLaunch",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, cooperativeLaunch) - 656usize];
    [
        "Offset of field: hipDeviceProp_tR0000::cooperativeMultiDeviceLaunch",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, cooperativeMultiDeviceLaunch)
        - 660usize];
    [
        "Offset of field: hipDeviceProp_tR0000::maxTexture1DLinear",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, maxTexture1DLinear) - 664usize];
    [
        "Offset of field: hipDeviceProp_tR0000::maxTexture1D",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, maxTexture1D) - 668usize];
    [
        "Offset of field: hipDeviceProp_tR0000::maxTexture2D",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, maxTexture2D) - 672usize];
    [
        "Offset of field: hipDeviceProp_tR0000::maxTexture3D",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, maxTexture3D) - 680usize];
    [
        "Offset of field: hipDeviceProp_tR0000::hdpMemFlushCntl",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, hdpMemFlushCntl) - 696usize];
    [
        "Offset of field: hipDeviceProp_tR0000::hdpRegFlushCntl",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, hdpRegFlushCntl) - 704usize];
    [
        "Offset of field: hipDeviceProp_tR0000::memPitch",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, memPitch) - 712usize];
    [
        "Offset of field: hipDeviceProp_tR0000::textureAlignment",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, textureAlignment) - 720usize];
    [
        "Offset of field: hipDeviceProp_tR0000::texturePitchAlignment",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, texturePitchAlignment) - 728usize];
    [
        "Offset of field: hipDeviceProp_tR0000::kernelExecTimeoutEnabled",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, kernelExecTimeoutEnabled) - 736usize];
    [
        "Offset of field: hipDeviceProp_tR0000::ECCEnabled",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, ECCEnabled) - 740usize];
    [
        "Offset of field: hipDeviceProp_tR0000::tccDriver",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, tccDriver) - 744usize];
    [
        "Offset of field: hipDeviceProp_tR0000::cooperativeMultiDeviceUnmatchedFunc",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, cooperativeMultiDeviceUnmatchedFunc)
        - 748usize];
    [
        "Offset of field: hipDeviceProp_tR0000::cooperativeMultiDeviceUnmatchedGridDim",
    ][::std::mem::offset_of!(
        hipDeviceProp_tR0000, cooperativeMultiDeviceUnmatchedGridDim
    ) - 752usize];
    [
        "Offset of field: hipDeviceProp_tR0000::cooperativeMultiDeviceUnmatchedBlockDim",
    ][::std::mem::offset_of!(
        hipDeviceProp_tR0000, cooperativeMultiDeviceUnmatchedBlockDim
    ) - 756usize];
    [
        "Offset of field: hipDeviceProp_tR0000::cooperativeMultiDeviceUnmatchedSharedMem",
    ][::std::mem::offset_of!(
        hipDeviceProp_tR0000, cooperativeMultiDeviceUnmatchedSharedMem
    ) - 760usize];
    [
        "Offset of field: hipDeviceProp_tR0000::isLargeBar",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, isLargeBar) - 764usize];
    [
        "Offset of field: hipDeviceProp_tR0000::asicRevision",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, asicRevision) - 768usize];
    [
        "Offset of field: hipDeviceProp_tR0000::managedMemory",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, managedMemory) - 772usize];
    [
        "Offset of field: hipDeviceProp_tR0000::directManagedMemAccessFromHost",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, directManagedMemAccessFromHost)
        - 776usize];
    [
        "Offset of field: hipDeviceProp_tR0000::concurrentManagedAccess",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, concurrentManagedAccess) - 780usize];
    [
        "Offset of field: hipDeviceProp_tR0000::pageableMemoryAccess",
    ][::std::mem::offset_of!(hipDeviceProp_tR0000, pageableMemoryAccess) - 784usize];
    [
        "Offset of field: hipDeviceProp_tR0000::pageableMemoryAccessUsesHostPageTables",
    ][::std::mem::offset_of!(
        hipDeviceProp_tR0000, pageableMemoryAccessUsesHostPageTables
    ) - 788usize];
};
impl Default for hipDeviceProp_tR0000 {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}

/// The status codes with their names, ascending.
pub(crate) const STATUS_NAMES: &[(hipError_t, &core::ffi::CStr)] = &[
    (hipError_t(0), c"hipSuccess"),
    (hipError_t(1), c"hipErrorInvalidValue"),
    (hipError_t(2), c"hipErrorOutOfMemory"),
    (hipError_t(3), c"hipErrorNotInitialized"),
    (hipError_t(4), c"hipErrorDeinitialized"),
    (hipError_t(5), c"hipErrorProfilerDisabled"),
    (hipError_t(6), c"hipErrorProfilerNotInitialized"),
    (hipError_t(7), c"hipErrorProfilerAlreadyStarted"),
    (hipError_t(8), c"hipErrorProfilerAlreadyStopped"),
    (hipError_t(9), c"hipErrorInvalidConfiguration"),
    (hipError_t(12), c"hipErrorInvalidPitchValue"),
    (hipError_t(13), c"hipErrorInvalidSymbol"),
    (hipError_t(17), c"hipErrorInvalidDevicePointer"),
    (hipError_t(21), c"hipErrorInvalidMemcpyDirection"),
    (hipError_t(35), c"hipErrorInsufficientDriver"),
    (hipError_t(52), c"hipErrorMissingConfiguration"),
    (hipError_t(53), c"hipErrorPriorLaunchFailure"),
    (hipError_t(98), c"hipErrorInvalidDeviceFunction"),
    (hipError_t(100), c"hipErrorNoDevice"),
    (hipError_t(101), c"hipErrorInvalidDevice"),
    (hipError_t(200), c"hipErrorInvalidImage"),
    (hipError_t(201), c"hipErrorInvalidContext"),
    (hipError_t(202), c"hipErrorContextAlreadyCurrent"),
    (hipError_t(205), c"hipErrorMapFailed"),
    (hipError_t(206), c"hipErrorUnmapFailed"),
    (hipError_t(207), c"hipErrorArrayIsMapped"),
    (hipError_t(208), c"hipErrorAlreadyMapped"),
    (hipError_t(209), c"hipErrorNoBinaryForGpu"),
    (hipError_t(210), c"hipErrorAlreadyAcquired"),
    (hipError_t(211), c"hipErrorNotMapped"),
    (hipError_t(212), c"hipErrorNotMappedAsArray"),
    (hipError_t(213), c"hipErrorNotMappedAsPointer"),
    (hipError_t(214), c"hipErrorECCNotCorrectable"),
    (hipError_t(215), c"hipErrorUnsupportedLimit"),
    (hipError_t(216), c"hipErrorContextAlreadyInUse"),
    (hipError_t(217), c"hipErrorPeerAccessUnsupported"),
    (hipError_t(218), c"hipErrorInvalidKernelFile"),
    (hipError_t(219), c"hipErrorInvalidGraphicsContext"),
    (hipError_t(300), c"hipErrorInvalidSource"),
    (hipError_t(301), c"hipErrorFileNotFound"),
    (hipError_t(302), c"hipErrorSharedObjectSymbolNotFound"),
    (hipError_t(303), c"hipErrorSharedObjectInitFailed"),
    (hipError_t(304), c"hipErrorOperatingSystem"),
    (hipError_t(400), c"hipErrorInvalidHandle"),
    (hipError_t(401), c"hipErrorIllegalState"),
    (hipError_t(500), c"hipErrorNotFound"),
    (hipError_t(600), c"hipErrorNotReady"),
    (hipError_t(700), c"hipErrorIllegalAddress"),
    (hipError_t(701), c"hipErrorLaunchOutOfResources"),
    (hipError_t(702), c"hipErrorLaunchTimeOut"),
    (hipError_t(704), c"hipErrorPeerAccessAlreadyEnabled"),
    (hipError_t(705), c"hipErrorPeerAccessNotEnabled"),
    (hipError_t(708), c"hipErrorSetOnActiveProcess"),
    (hipError_t(709), c"hipErrorContextIsDestroyed"),
    (hipError_t(710), c"hipErrorAssert"),
    (hipError_t(712), c"hipErrorHostMemoryAlreadyRegistered"),
    (hipError_t(713), c"hipErrorHostMemoryNotRegistered"),
    (hipError_t(719), c"hipErrorLaunchFailure"),
    (hipError_t(720), c"hipErrorCooperativeLaunchTooLarge"),
    (hipError_t(801), c"hipErrorNotSupported"),
    (hipError_t(900), c"hipErrorStreamCaptureUnsupported"),
    (hipError_t(901), c"hipErrorStreamCaptureInvalidated"),
    (hipError_t(902), c"hipErrorStreamCaptureMerge"),
    (hipError_t(903), c"hipErrorStreamCaptureUnmatched"),
    (hipError_t(904), c"hipErrorStreamCaptureUnjoined"),
    (hipError_t(905), c"hipErrorStreamCaptureIsolation"),
    (hipError_t(906), c"hipErrorStreamCaptureImplicit"),
    (hipError_t(907), c"hipErrorCapturedEvent"),
    (hipError_t(908), c"hipErrorStreamCaptureWrongThread"),
    (hipError_t(910), c"hipErrorGraphExecUpdateFailure"),
    (hipError_t(911), c"hipErrorInvalidChannelDescriptor"),
    (hipError_t(912), c"hipErrorInvalidTexture"),
    (hipError_t(999), c"hipErrorUnknown"),
    (hipError_t(1052), c"hipErrorRuntimeMemory"),
    (hipError_t(1053), c"hipErrorRuntimeOther"),
];
