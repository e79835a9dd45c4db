// SPDX-License-Identifier: MIT OR Apache-2.0
//! A kernel's view of its argument block and of the memory that the block points to.
//!
//! Kernels touch device memory only through this module. Reading a value from the block is safe. Following an address
//! in the block is not: the block does not say how much memory lies there, or whether that memory still exists. The
//! caller of `load_executable` vouches for the addresses, so [`Pointer::load`] and [`Pointer::store`] are unsafe.
//!
//! All memory accesses of this driver are relaxed atomics of one byte. Two dispatches without an edge between them
//! may touch the same bytes. They read old or new bytes, and the behaviour stays defined.

use std::{
    fmt,
    marker::PhantomData,
    ptr::with_exposed_provenance_mut,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU32, Ordering::Relaxed},
    },
};

use windlass_hal::{Error, FunctionInfo, Parameter, ParameterKind, Result, host_memory::HostMemory};

/// The arguments of a dispatch, by the index of their parameters in the kernel.
#[derive(Clone, Copy)]
pub struct Arguments<'a> {
    pub(crate) function: &'a FunctionInfo,
    pub(crate) block: &'a [u8],
    pub(crate) globals: &'a [(String, Arc<HostMemory>)],
}

impl<'a> Arguments<'a> {
    /// A number. `INVALID_ARGUMENT` if the kernel declares no value of this size at `index`.
    pub fn value<T: Scalar>(&self, index: usize) -> Result<T> {
        let bytes = self.parameter(index, ParameterKind::Value)?;
        T::from_bytes(bytes).ok_or_else(|| {
            let (name, size) = (&self.function.name, size_of::<T>());
            Error::invalid_argument(format!(
                "`{name}` reads {size} bytes as argument {index}, which has {}",
                bytes.len()
            ))
        })
    }

    /// The bytes of a value. A struct has the layout that the dispatching program gave it.
    pub fn bytes(&self, index: usize) -> Result<&'a [u8]> {
        self.parameter(index, ParameterKind::Value)
    }

    /// The memory that a buffer parameter points to, as elements.
    pub fn buffer<T: Scalar>(&self, index: usize) -> Result<Pointer<T>> {
        let address = u64::from_bytes(self.parameter(index, ParameterKind::Buffer)?);
        Ok(Pointer::new(address.ok_or_else(|| Error::internal("an address has eight bytes"))?))
    }

    /// A global variable of the library, as elements. Each executable has its own copy. `NOT_FOUND` if the library
    /// has no variable of that name.
    pub fn global<T: Scalar>(&self, name: &str) -> Result<Pointer<T>> {
        match self.globals.iter().find(|(known, _)| known == name) {
            Some((_, memory)) => Ok(Pointer::new(memory.address())),
            None => Err(Error::not_found(format!(
                "`{}` uses the global `{name}`, which its library does not declare",
                self.function.name
            ))),
        }
    }

    fn parameter(&self, index: usize, kind: ParameterKind) -> Result<&'a [u8]> {
        let wrong = || {
            let signature = self.function.signature();
            Error::invalid_argument(format!("the code of {signature} reads argument {index} as a {kind:?}"))
        };
        let Parameter { offset, size, .. } = self
            .function
            .parameters
            .get(index)
            .filter(|parameter| parameter.kind == kind)
            .ok_or_else(wrong)?;
        self.block.get(*offset as usize..(*offset + *size) as usize).ok_or_else(wrong)
    }
}

impl fmt::Debug for Arguments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arguments of {}", self.function.signature())
    }
}

/// A number in arguments and in memory: an integer or float of one to eight bytes, in the host's byte order.
pub trait Scalar: sealed::Sealed + Copy + Send + Sync + 'static {
    #[doc(hidden)]
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
    #[doc(hidden)]
    fn each_byte(make: impl FnMut(usize) -> u8) -> Self;
    #[doc(hidden)]
    fn for_each_byte(self, take: impl FnMut(usize, u8));
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! scalars {
    ($($type:ty),*) => {$(
        impl sealed::Sealed for $type {}
        impl Scalar for $type {
            fn from_bytes(bytes: &[u8]) -> Option<Self> {
                Some(Self::from_ne_bytes(bytes.try_into().ok()?))
            }
            fn each_byte(make: impl FnMut(usize) -> u8) -> Self {
                Self::from_ne_bytes(std::array::from_fn(make))
            }
            fn for_each_byte(self, mut take: impl FnMut(usize, u8)) {
                self.to_ne_bytes().into_iter().enumerate().for_each(|(index, byte)| take(index, byte));
            }
        }
    )*};
}
scalars!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

/// An address of device memory as a kernel sees it: elements of one type, without a length.
pub struct Pointer<T> {
    address: u64,
    element: PhantomData<fn() -> T>,
}

impl<T: Scalar> Pointer<T> {
    fn new(address: u64) -> Self {
        Self { address, element: PhantomData }
    }

    /// Whether the argument was null.
    pub fn is_null(self) -> bool {
        self.address == 0
    }

    /// The address as a pointer, for accesses that this type does not offer. The address may be unaligned. Other
    /// threads may touch the bytes at any time, so a reference to them is never sound. An access that is not atomic
    /// is sound only if every program that dispatches the kernel orders its accesses.
    pub fn as_ptr(self) -> *mut T {
        with_exposed_provenance_mut(self.address as usize)
    }

    /// The element at `index`. The address need not be aligned.
    ///
    /// # Safety
    /// The element must lie in a live buffer of the device or in a global of the library.
    pub unsafe fn load(self, index: usize) -> T {
        T::each_byte(|byte| {
            // SAFETY: within the element that the caller vouches for.
            unsafe { self.byte(index, byte) }.load(Relaxed)
        })
    }

    /// Overwrites the element at `index`.
    ///
    /// # Safety
    /// As for [`load`](Self::load), and the kernel must be allowed to write to the buffer.
    pub unsafe fn store(self, index: usize, value: T) {
        value.for_each_byte(|byte, value| {
            // SAFETY: within the element that the caller vouches for.
            unsafe { self.byte(index, byte) }.store(value, Relaxed);
        });
    }

    /// # Safety
    /// The element at `index` must lie in memory that outlives the returned reference.
    unsafe fn byte<'a>(self, index: usize, byte: usize) -> &'a AtomicU8 {
        let at = self.as_ptr().cast::<u8>().wrapping_add(index * size_of::<T>() + byte);
        // SAFETY: live memory, as the caller vouches; one byte is always aligned, and this driver's other accesses to it
        // are atomic and of one byte too.
        unsafe { AtomicU8::from_ptr(at) }
    }
}

impl Pointer<u32> {
    /// The word at `index`, for atomic operations.
    ///
    /// # Safety
    /// The word must lie in a live buffer of the device or in a global of the library for all of `'a`, at a multiple
    /// of four bytes. During `'a` every access to its bytes must use this atomic or be ordered before or after.
    pub unsafe fn atomic<'a>(self, index: usize) -> &'a AtomicU32 {
        // SAFETY: the word is live and aligned, and all concurrent accesses use this atomic, as the caller vouches.
        unsafe { AtomicU32::from_ptr(self.as_ptr().wrapping_add(index)) }
    }
}

impl<T> Clone for Pointer<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Pointer<T> {}

impl<T> fmt::Debug for Pointer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pointer({:#x})", self.address)
    }
}
