// A pass of opt: memory of worlds is woven. The 32 worlds of a warp lie word by word beside each
// other, so that threads which read the same field read one line of memory.
//
// A pointer into a woven world is marked (woven.h): it has the lane of the world and the address of
// its word 0 over the number of lanes, so that it counts in bytes like any other. Each load, store
// and copy looks at the mark and finds the word; those of the stack and of constants stay.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/ErrorHandling.h>

#include "woven.h"

using namespace llvm;

namespace {

constexpr uint64_t shortCopy = 64; // bytes, that are copied without a loop

// Memory that is never woven: all objects it may be are known.
bool isPlain(const Value *pointer)
{
  SmallVector<const Value *, 4> objects;
  getUnderlyingObjects(pointer, objects);
  return all_of(objects, [](const Value *object) {
    const auto *argument = dyn_cast<Argument>(object);
    return isa<AllocaInst>(object) || isa<GlobalVariable>(object) || isa<ConstantPointerNull>(object) ||
           (argument && argument->hasByValAttr());
  });
}

// The pieces of an access: words, or less where it is not aligned to them.
class Access {
public:
  Access(IRBuilder<> &builder, Value *pointer, uint64_t size, uint64_t alignment, const Instruction &of)
      : b(builder), size(size), tags(of.getAAMetadata())
  {
    unit = std::min<uint64_t>({alignment, 4, size & -size});
    pieceType = b.getIntNTy(unsigned(8 * unit));
    address = b.CreatePtrToInt(pointer, b.getInt64Ty());
    marked = b.CreateIsNotNull(b.CreateAnd(address, WOVEN_MARK));
  }

  unsigned count() const { return unsigned(size / unit); }
  Type *type() const { return pieceType; }

  Value *load(unsigned piece)
  {
    auto *made = b.CreateAlignedLoad(pieceType, place(piece), Align(unit));
    made->setAAMetadata(tags);
    return made;
  }

  void store(unsigned piece, Value *value)
  {
    b.CreateAlignedStore(value, place(piece), Align(unit))->setAAMetadata(tags);
  }

private:
  // Where piece number `piece` lies.
  Value *place(unsigned piece)
  {
    uint64_t offset = piece * unit;
    Value *at = b.CreateAdd(address, b.getInt64(offset));
    Value *word = unit == 4 ? at : b.CreateAnd(at, ~uint64_t(3));
    Value *woven = b.CreateAnd(b.CreateShl(word, WOVEN_SHIFT), (uint64_t(1) << (WOVEN_LANE + WOVEN_SHIFT)) - 1);
    Value *lane = b.CreateAnd(b.CreateLShr(at, WOVEN_LANE - 2), 4 * (WOVEN_LANES - 1));
    woven = b.CreateOr(woven, lane);
    if (unit < 4) {
      woven = b.CreateOr(woven, b.CreateAnd(at, 3));
    }
    return b.CreateIntToPtr(b.CreateSelect(marked, woven, at), pieceType->getPointerTo());
  }

  IRBuilder<> &b;
  uint64_t size, unit;
  AAMDNodes tags;
  Type *pieceType;
  Value *address, *marked;
};

class Weaver {
public:
  explicit Weaver(Module &module) : module(module), layout(module.getDataLayout()) {}

  void weave(Instruction &i)
  {
    IRBuilder<> b(&i);
    if (auto *load = dyn_cast<LoadInst>(&i)) {
      if (!isPlain(load->getPointerOperand())) {
        weaveLoad(b, *load);
      }
    } else if (auto *store = dyn_cast<StoreInst>(&i)) {
      if (!isPlain(store->getPointerOperand())) {
        weaveStore(b, *store);
      }
    } else if (auto *transfer = dyn_cast<MemTransferInst>(&i)) {
      if (!isPlain(transfer->getRawDest()) || !isPlain(transfer->getRawSource())) {
        weaveCopy(b, *transfer);
      }
    } else if (auto *set = dyn_cast<MemSetInst>(&i)) {
      if (!isPlain(set->getRawDest())) {
        weaveSet(b, *set);
      }
    } else if (auto *call = dyn_cast<CallBase>(&i); call && !isa<IntrinsicInst>(i)) {
      passCopies(*call);
      call->addFnAttr(Attribute::NoBuiltin); // memcmp and its like stay calls, of the woven ones
    } else if (isa<AtomicRMWInst>(i) || isa<AtomicCmpXchgInst>(i)) {
      report_fatal_error("weave: an atomic operation in " + i.getFunction()->getName());
    } else if (auto *call = dyn_cast<IntrinsicInst>(&i)) {
      if (call->getIntrinsicID() == Intrinsic::prefetch) {
        i.eraseFromParent();
      }
    }
  }

private:
  // Numbers go to memory as integers of as many bits.
  IntegerType *bitsOf(Type *type)
  {
    if (type->isAggregateType()) {
      report_fatal_error("weave: an aggregate is loaded or stored whole");
    }
    return IntegerType::get(module.getContext(), unsigned(8 * layout.getTypeStoreSize(type)));
  }

  void weaveLoad(IRBuilder<> &b, LoadInst &load)
  {
    Type *type = load.getType();
    IntegerType *bits = bitsOf(type);
    Access access(b, load.getPointerOperand(), bits->getBitWidth() / 8, load.getAlign().value(), load);
    Value *value = nullptr;
    if (access.count() == 1) {
      value = access.load(0);
    } else {
      value = UndefValue::get(FixedVectorType::get(access.type(), access.count()));
      for (unsigned k = 0; k < access.count(); ++k) {
        value = b.CreateInsertElement(value, access.load(k), k);
      }
      value = b.CreateBitCast(value, bits);
    }
    if (type->isPointerTy()) {
      value = b.CreateIntToPtr(value, type);
    } else if (layout.getTypeSizeInBits(type) < bits->getBitWidth()) {
      value = b.CreateTrunc(value, type);
    } else {
      value = b.CreateBitCast(value, type);
    }
    load.replaceAllUsesWith(value);
    load.eraseFromParent();
  }

  void weaveStore(IRBuilder<> &b, StoreInst &store)
  {
    Value *value = store.getValueOperand();
    Type *type = value->getType();
    IntegerType *bits = bitsOf(type);
    Access access(b, store.getPointerOperand(), bits->getBitWidth() / 8, store.getAlign().value(), store);
    if (type->isPointerTy()) {
      value = b.CreatePtrToInt(value, bits);
    } else if (layout.getTypeSizeInBits(type) < bits->getBitWidth()) {
      value = b.CreateZExt(value, bits);
    }
    if (access.count() == 1) {
      access.store(0, b.CreateBitCast(value, bits));
    } else {
      value = b.CreateBitCast(value, FixedVectorType::get(access.type(), access.count()));
      for (unsigned k = 0; k < access.count(); ++k) {
        access.store(k, b.CreateExtractElement(value, k));
      }
    }
    store.eraseFromParent();
  }

  void weaveCopy(IRBuilder<> &b, MemTransferInst &copy)
  {
    auto *length = dyn_cast<ConstantInt>(copy.getLength());
    uint64_t alignment = std::min(copy.getDestAlign().valueOrOne(), copy.getSourceAlign().valueOrOne()).value();
    if (length && length->getZExtValue() <= shortCopy && length->getZExtValue() > 0 && alignment >= 4 &&
        length->getZExtValue() % 4 == 0) {
      uint64_t size = length->getZExtValue();
      Access from(b, copy.getRawSource(), size, 4, copy), to(b, copy.getRawDest(), size, 4, copy);
      SmallVector<Value *, 16> words;
      for (unsigned k = 0; k < from.count(); ++k) {
        words.push_back(from.load(k));
      }
      for (unsigned k = 0; k < to.count(); ++k) {
        to.store(k, words[k]);
      }
    } else {
      call(b, isa<MemMoveInst>(copy) ? "woven_move" : "woven_copy",
           {copy.getRawDest(), copy.getRawSource(), copy.getLength()});
    }
    copy.eraseFromParent();
  }

  void weaveSet(IRBuilder<> &b, MemSetInst &set)
  {
    auto *length = dyn_cast<ConstantInt>(set.getLength());
    auto *value = dyn_cast<ConstantInt>(set.getValue());
    uint64_t size = length ? length->getZExtValue() : 0;
    if (value && value->isZero() && size > 0 && size <= shortCopy && size % 4 == 0 &&
        set.getDestAlign().valueOrOne().value() >= 4) {
      Access to(b, set.getRawDest(), size, 4, set);
      for (unsigned k = 0; k < to.count(); ++k) {
        to.store(k, b.getInt32(0));
      }
    } else {
      call(b, "woven_fill", {set.getRawDest(), set.getValue(), set.getLength()});
    }
    set.eraseFromParent();
  }

  // An argument that is passed by value is copied by the call itself: to the stack before that.
  void passCopies(CallBase &call)
  {
    for (unsigned k = 0; k < call.arg_size(); ++k) {
      if (!call.isByValArgument(k) || isPlain(call.getArgOperand(k))) {
        continue;
      }
      Type *type = call.getParamByValType(k);
      Align alignment = call.getParamAlign(k).valueOrOne();
      IRBuilder<> entry(&call.getFunction()->getEntryBlock().front());
      AllocaInst *room = entry.CreateAlloca(type);
      room->setAlignment(std::max(alignment, room->getAlign()));
      IRBuilder<> b(&call);
      auto *copy = cast<MemTransferInst>(b.CreateMemCpy(room, room->getAlign(), call.getArgOperand(k),
                                                        alignment, layout.getTypeAllocSize(type)));
      call.setArgOperand(k, room);
      weaveCopy(b, *copy);
    }
  }

  void call(IRBuilder<> &b, StringRef name, ArrayRef<Value *> arguments)
  {
    Function *function = module.getFunction(name);
    if (!function) {
      report_fatal_error("weave: there is no " + name);
    }
    auto *made = b.CreateCall(function, arguments);
    made->setCallingConv(function->getCallingConv());
  }

  Module &module;
  const DataLayout &layout;
};

struct WeavePass : PassInfoMixin<WeavePass> {
  static PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
  {
    Weaver weaver(module);
    for (Function &function : module) {
      for (Instruction &i : make_early_inc_range(instructions(function))) {
        weaver.weave(i);
      }
    }
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

void addPass(PassBuilder &builder)
{
  builder.registerPipelineParsingCallback(
      [](StringRef name, ModulePassManager &manager, ArrayRef<PassBuilder::PipelineElement>) {
        if (name == "weave") {
          manager.addPass(WeavePass());
        }
        return name == "weave";
      });
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo()
{
  return {LLVM_PLUGIN_API_VERSION, "weave", "1", addPass};
}
